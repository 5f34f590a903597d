// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import ProtocommTransports
import RainDBus
import TestSupport
import Testing

/// BlueZ keeps every device for good that was connected to once.
@Suite("What BlueZ remembers of a board after the last connection")
struct ForgettingTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The calls to the radio while a transport of a new process exchanged, and closed.
    private func run(
        _ behaviour: EchoRadio.Behaviour, _ during: (EchoRadio, BLETransport) async throws -> Void = { _, _ in }
    ) async throws -> [String] {
        var log: [String] = []
        try await withEchoRadio(behaviour) { radio, address in
            let central = try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            let transport = BLETransport(to: .name("PROV_echo01")) { () throws(BluetoothError) in central }
            _ = try await transport.exchange([1], on: .session)
            try await during(radio, transport)
            await transport.close()
            // Answered after everything that closing sent.
            try await central.discover(.name("PROV_other"), for: .milliseconds(100)) { _ in true }
            log = radio.log
            central.close()
        }
        return log
    }

    @Test("is nothing where it had not known it before")
    func newcomer() async throws {
        let log = try await run(EchoRadio.Behaviour())
        #expect(log.filter { $0 == "Disconnect" || $0 == "RemoveDevice" } == ["Disconnect", "RemoveDevice"])
    }

    @Test("is nothing where the board hung up first, and where it was connected to again")
    func hungUp() async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.breaksAtWrite = 2
        let log = try await run(behaviour) { _, transport in
            await #expect(throws: BoardError.self) { try await transport.exchange([2], on: .config) }
        }
        #expect(log.filter { $0 == "RemoveDevice" }.count == 1)
        behaviour.breaksAtWrite = 2
        let again = try await run(behaviour) { _, transport in
            await #expect(throws: BoardError.self) { try await transport.exchange([2], on: .config) }
            _ = try await transport.exchange([2], on: .session)
        }
        #expect(again.filter { $0 == "RemoveDevice" }.count == 1)
    }

    @Test("is what it was where it knew the board already")
    func known() async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.isKnown = true
        let log = try await run(behaviour)
        #expect(log.contains("Disconnect") && !log.contains("RemoveDevice"))
    }

    @Test("stays where somebody paired or trusts it", arguments: ["Paired", "Bonded", "Trusted"])
    func wanted(property: String) async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.device = [property: .bool(true)]
        let log = try await run(behaviour)
        #expect(log.contains("Disconnect") && !log.contains("RemoveDevice"))
    }

    @Test("is no bond that came with the own link, also of a board that it knew", arguments: [false, true])
    func bond(isKnown: Bool) async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.bondsAtWrite = true
        behaviour.isKnown = isKnown
        let log = try await run(behaviour)
        #expect(log.filter { $0 == "RemoveDevice" }.count == 1, "\(log)")
    }

    @Test("stays where another program connected to it first")
    func anotherPrograms() async throws {
        try await withEchoRadio { radio, address in
            let central = try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            try await central.discover(.anyBoard, for: .seconds(120)) { _ in false }
            let other = try await DBusClient.connect(.at(address))
            for member in ["Connect", "Disconnect"] {
                try await other.call(
                    DBusCall("org.bluez", EchoRadio.device, "org.bluez.Device1", member), within: .waitLimit)
            }
            let transport = BLETransport(to: .name("PROV_echo01")) { () throws(BluetoothError) in central }
            _ = try await transport.exchange([1], on: .session)
            await transport.close()
            try await central.discover(.name("PROV_other"), for: .milliseconds(100)) { _ in true }
            #expect(!radio.log.contains("RemoveDevice"))
            central.close()
            other.close()
        }
    }
}
