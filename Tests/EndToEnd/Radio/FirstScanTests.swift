// SPDX-License-Identifier: Apache-2.0
import Logging
import RainDBus
import Synchronization
import TestSupport
import Testing

@testable import ProtocommTransports

@Suite("A scan that BlueZ does not begin at first", .timeLimit(.minutes(5)))
struct FirstScanTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let busy = (name: "org.bluez.Error.InProgress", text: "Operation already in progress")

    /// What one looks for is heard.
    private func expectHeard(
        _ behaviour: EchoRadio.Behaviour, after starts: Int, at location: SourceLocation = #_sourceLocation
    ) async throws {
        try await withEchoRadio(behaviour) { radio, address in
            let central = try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            let heard = Mutex<[String]>([])
            try await central.discover(.name("PROV_echo01"), for: .seconds(120)) { board in
                heard.withLock { $0.append(board.label) }
                return false
            }
            #expect(heard.withLock { $0 } == ["PROV_echo01"], sourceLocation: location)
            #expect(radio.log.count { $0 == "StartDiscovery" } == starts, "\(radio.log)", sourceLocation: location)
            central.close()
        }
    }

    static let errors: [(name: String, text: String)] = [
        busy, ("org.bluez.Error.Failed", "Input/output error"), ("org.bluez.Error.NotReady", "Resource Not Ready"),
        ("org.freedesktop.DBus.Error.ServiceUnknown", "The name is not activatable"),
        ("org.freedesktop.DBus.Error.NoReply", "Message recipient disconnected from message bus without replying"),
        ("org.freedesktop.DBus.Error.Spawn.ChildExited", "Launch helper exited with unknown return code 1"),
    ]

    @Test("is begun again, whatever BlueZ says", arguments: errors)
    func once(error: (name: String, text: String)) async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.scanErrors = [error, error]
        try await expectHeard(behaviour, after: 3)
    }

    @Test("and one whose answer got lost is ended and started again")
    func lostAnswer() async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.losesScanAnswer = true
        // Without an answer, "in progress", and again.
        try await expectHeard(behaviour, after: 3)
    }

    @Test("and if it never begins, that is reported, not an empty result")
    func never() async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.scanError = Self.busy
        try await withEchoRadio(behaviour) { radio, address in
            let central = try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            await #expect {
                try await central.discover(.anyBoard, for: .seconds(8)) { _ in true }
            } throws: {
                let error = $0 as? BluetoothError
                return error?.code.name == "scan_failed"
                    && error?.message.contains("Operation already in progress") == true
            }
            #expect(radio.log.count { $0 == "StartDiscovery" } >= 2, "\(radio.log)")
            // So it is with a connection.
            await #expect { try await central.connect(.anyBoard, within: .seconds(5)) } throws: {
                ($0 as? BluetoothError)?.code.name == "scan_failed"
            }
            central.close()
        }
    }
}
