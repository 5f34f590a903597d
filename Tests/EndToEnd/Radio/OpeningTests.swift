// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommTransports
import RainDBus
import TestSupport
import Testing

@Suite("Opening this machine's Bluetooth")
struct OpeningTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Twice the promise.
    private static let soon = Timings.limit(.seconds(4))

    /// What opening failed with, and how long that took.
    private func opening(
        _ address: String, adapter: String? = nil, isBlocked: Bool = false
    ) async -> (error: BluetoothError?, time: Duration) {
        let began = ContinuousClock.now
        do {
            let central = try await BluetoothCentral.open(
                adapter: adapter, bus: .at(address), isBlocked: { isBlocked }, logger: Self.silent)
            central.close()
            return (nil, ContinuousClock.now - began)
        } catch { return (error, ContinuousClock.now - began) }
    }

    @Test("a bus without BlueZ")
    func noBlueZ() async throws {
        try await withTemporaryFolder { folder in
            let bus = try await SessionBusDaemon(in: folder)
            let found = await opening(bus.address)
            #expect(found.error?.code == .noBlueZ)
            #expect(found.error?.message.contains("systemctl start bluetooth") == true)
            try await bus.end()
        }
    }

    @Test("a bus that does not let this user ask BlueZ")
    func accessDenied() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(
                """
                <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
                 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
                <busconfig>
                  <type>session</type>
                  <listen>unix:path=\(folder.file("closed"))</listen>
                  <auth>EXTERNAL</auth>
                  <policy context="default">
                    <allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/>
                    <deny send_destination="org.bluez"/>
                  </policy>
                </busconfig>
                """, to: "closed.conf")
            let daemon = try await ChildProcess.start(
                "dbus-daemon", ["--nofork", "--print-address=1", "--config-file=\(folder.file("closed.conf"))"])
            let address = try await daemon.readyLine()
            let radio = try await EchoRadio(on: address)
            let found = await opening(address)
            #expect(found.error?.code == .accessDenied)
            #expect(found.error?.message.contains("group bluetooth") == true)
            await radio.stop()
            try await daemon.terminate()
        }
    }

    struct Machine: Sendable {
        var adapter: [String: DBusValue]?
        var isBlocked = false
        var wanted: String?
        var expected: BluetoothError.Code?
        var words = ""
    }

    static let machines: [Machine] = [
        Machine(adapter: nil, expected: .noAdapter, words: "Plug one in"),
        Machine(adapter: [:], expected: nil),
        Machine(adapter: [:], wanted: "hci0", expected: nil),
        Machine(adapter: [:], wanted: "00:11:22:33:44:55", expected: nil),
        Machine(adapter: [:], wanted: "hci7", expected: .noAdapter, words: "hci0"),
        Machine(adapter: ["Powered": .bool(false)], expected: .poweredOff, words: "bluetoothctl power on"),
        Machine(adapter: ["Powered": .bool(false)], isBlocked: true, expected: .blocked, words: "rfkill unblock"),
        Machine(
            adapter: ["Powered": .bool(false), "PowerState": .string("off-blocked")], expected: .blocked,
            words: "rfkill unblock"),
        Machine(adapter: ["Roles": .strings(["peripheral"])], expected: .noAdapter, words: "Low Energy"),
    ]

    @Test("each state of the adapter is reported with its remedy, within two seconds", arguments: machines)
    func states(_ machine: Machine) async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.adapter = machine.adapter
        try await withEchoRadio(behaviour) { _, address in
            let found = await opening(address, adapter: machine.wanted, isBlocked: machine.isBlocked)
            #expect(found.error?.code == machine.expected)
            #expect(found.error?.message.contains(machine.words) != false)
            #expect(found.time < Self.soon)
        }
    }
}
