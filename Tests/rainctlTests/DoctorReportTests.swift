// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Testing

@testable import rainctl

/// What `doctor` says of what other commands end at, and of what it shares with other programs.
@Suite("rainctl doctor reports")
struct DoctorReportTests {
    @Test("whole sentences and commands, however long they are")
    func long() {
        let (sentence, command) = (String(repeating: "s", count: 900), String(repeating: "c", count: 900))
        let text = DoctorResult(findings: [.warn("ports", "busy", sentence, fix: command)]).text
        #expect(text.contains(sentence) && text.contains(command))
        #expect(DoctorResult(findings: [.ok("ports", "a\u{1B}[2Jb")]).text.contains("a [2Jb"))
    }

    @Test("of a bus that is not there, what can be done in a container and outside of one")
    func busCommand() {
        let absent = DBusError(.unavailable, message: "D-Bus cannot be reached.")
        #expect(Checkup.busCommand(after: absent, isContainer: false) == "sudo systemctl start dbus")
        #expect(Checkup.busCommand(after: absent, isContainer: true).contains("--volume /run/dbus/system_bus_socket:"))
        let library = DBusError(.unavailable, message: "libsystemd.so.0 is not there.")
        #expect(Checkup.busCommand(after: library, isContainer: true) == "sudo apt install libsystemd0")
    }

    @Test(
        "reads versions of BlueZ",
        arguments: [
            ("bluetoothctl: 5.66\n", "5.66"), ("5.9", "5.9"), ("", nil), ("bluetoothctl: x.y", nil), ("5.6.7", nil),
        ])
    func version(text: String, version: String?) {
        #expect(Checkup.version(in: text).map { "\($0.0).\($0.1)" } == version)
    }

    @Test("what a shell takes for one word")
    func words() {
        #expect("/home/a-b/x.json".asShellWord == "/home/a-b/x.json")
        #expect("/home/a b".asShellWord == "'/home/a b'" && "a'b".asShellWord == #"'a'\''b'"# && "".asShellWord == "''")
    }
}
