// SPDX-License-Identifier: Apache-2.0
import Logging
import RainDBus
import Synchronization
import TestSupport
import Testing

@testable import ProtocommTransports

@Suite("Bluetooth that goes away while somebody listens")
struct OutageTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    static let incidents: [(EchoRadio.Incident, BluetoothError.Code)] = [
        (.power(false), .poweredOff), (.plug(false), .noAdapter), (.leave, .noBlueZ),
    ]

    @Test("is reported with its remedy, and never as an empty list", arguments: incidents)
    func told(incident: EchoRadio.Incident, code: BluetoothError.Code) async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.isSilent = true
        try await withEchoRadio(behaviour) { radio, address in
            let central = try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            let listening = Task {
                try await central.discover(.anyBoard, for: .seconds(20)) { _ in true }
            }
            try await radio.called("StartDiscovery")
            radio.befall(incident)
            await #expect { try await listening.value } throws: { ($0 as? BluetoothError)?.code == code }
            // And so it is where somebody looks for one board, alone.
            let one = Task {
                try await central.discover(.address(EchoRadio.address), for: .seconds(2)) { _ in true }
            }
            await #expect { try await one.value } throws: { ($0 as? BluetoothError)?.code == code }
            central.close()
        }
    }

    static let recoveries: [[EchoRadio.Incident]] = [
        [.power(false), .power(true)], [.plug(false), .plug(true)], [.leave, .comeBack],
        [.leave, .plug(false), .comeBack, .power(false), .plug(true), .power(true)],
    ]

    @Test("and comes back: whoever listens goes on listening", arguments: recoveries)
    func recovered(incidents: [EchoRadio.Incident]) async throws {
        try await expectHeard { radio in
            radio.change { $0.isSilent = false }
            for incident in incidents { radio.befall(incident) }
        }
    }

    private static let failure = (name: "org.bluez.Error.Failed", text: "Busy")

    @Test("and a scan that fails when it is restarted is restarted once more")
    func scanFails() async throws {
        try await expectHeard { radio in
            for incident: EchoRadio.Incident in [.scanFails(Self.failure), .power(false), .power(true)] {
                radio.befall(incident)
            }
            try await radio.called("StartDiscovery", times: 2)
            radio.change { $0.isSilent = false }
            radio.befall(.scanFails(nil))
        }
    }

    @Test("and BlueZ that does not list its objects after its return is asked again")
    func objectsFail() async throws {
        try await expectHeard { radio in
            radio.change {
                $0.objectErrors = [Self.failure]
                $0.isSilent = false
            }
            for incident in [EchoRadio.Incident.leave, .comeBack] { radio.befall(incident) }
        }
    }

    /// Somebody listens from before `body`, when nothing is to be heard, and hears the one board after it.
    private func expectHeard(
        after body: @Sendable (EchoRadio) async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.isSilent = true
        try await withEchoRadio(behaviour) { radio, address in
            let central = try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            let heard = Mutex<[String]>([])
            let listening = Task {
                try await central.discover(.name("PROV_echo01"), for: .seconds(120)) { board in
                    heard.withLock { $0.append(board.label) }
                    return false
                }
            }
            try await radio.called("StartDiscovery")
            try await body(radio)
            try await listening.value
            #expect(heard.withLock { $0 } == ["PROV_echo01"], sourceLocation: sourceLocation)
            central.close()
        }
    }

    @Test("and one that never succeeds again is reported to the listeners")
    func scanStaysOff() async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.isSilent = true
        try await withEchoRadio(behaviour) { radio, address in
            let central = try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            let listening = Task { try await central.discover(.anyBoard, for: .seconds(20)) { _ in true } }
            try await radio.called("StartDiscovery")
            for incident: EchoRadio.Incident in [.scanFails(Self.failure), .power(false), .power(true)] {
                radio.befall(incident)
            }
            await #expect { try await listening.value } throws: {
                ($0 as? BluetoothError)?.code == .scanFailed && "\($0)".contains("Busy")
            }
            central.close()
        }
    }

    @Test("and the pairing agent is registered again with the next BlueZ")
    func pairing() async throws {
        let unpaired = EchoRadio.NameRead.failing(name: "org.bluez.Error.NotPermitted", text: "Not paired")
        try await withEchoRadio { radio, address in
            let central = try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            for round in 1...3 {
                radio.change { $0.nameReads = [unpaired] }
                let link = try await central.connect(.name("PROV_echo01"), within: .waitLimit)
                await link.adapter.release(link.board.path)
                link.hold.release()
                // As at the end of a transport: only the last board takes the agent with it.
                if round == 3 { await link.adapter.forbidPairing(link.board.path) }
                #expect(radio.log.count { $0 == "Pair" } == round)
                // The first two have the same BlueZ.
                #expect(radio.log.count { $0 == "RegisterAgent" } == max(1, round - 1))
                guard round == 2 else { continue }
                // Not by its own doing: it releases nobody.
                for incident in [EchoRadio.Incident.leave, .comeBack] { radio.befall(incident) }
                try await radio.called("GetManagedObjects", times: 2)
            }
            central.close()
        }
    }
}
