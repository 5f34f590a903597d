// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainDBus
import TestSupport
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

    @Test(
        "of a project's file that others may write, the command is printed and not run",
        arguments: [0o666, 0o660, 0o622] as [mode_t])
    func ignoredSettings(mode: mode_t) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file(".rainkit.json")
            try folder.write("{}", to: ".rainkit.json")
            chmod(path, mode)
            let finding = Checkup.finding(aboutIgnored: path)
            #expect(finding.fix == "chmod go-w \(path)" && finding.repair == nil)
            #expect(finding.message.contains("Read it before you use it"))
        }
    }

    @Test(
        "of a private file, the command is run only if nobody else may have written it",
        arguments: [(0o644, true), (0o640, true), (0o666, false), (0o620, false)] as [(mode_t, Bool)])
    func exposedFiles(mode: mode_t, isRun: Bool) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("deployments.json")
            try folder.write("{}", to: "deployments.json")
            chmod(folder.path, 0o700)
            chmod(path, mode)
            let finding = Finding.fail("profile", "unreadable_profiles", "x").mended(privateFile: path, else: nil)
            #expect(finding.fix == "chmod 600 \(path)" && (finding.repair != nil) == isRun)
        }
    }
}
