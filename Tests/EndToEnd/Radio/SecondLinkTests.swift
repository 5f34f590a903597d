// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import ProtocommTransports
import RainDBus
import TestSupport
import Testing

@Suite("A board whose first link comes to nothing", .timeLimit(.minutes(5)))
struct SecondLinkTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    /// The time for two attempts. A busy machine needs longer for the second one.
    private static let limit = Duration.seconds(Timings.isAlone ? 12 : 60)

    private func withRadio(
        _ change: (inout EchoRadio.Behaviour) -> Void, connect: Duration = .seconds(30),
        _ body: (EchoRadio, BLETransport) async throws -> Void
    ) async throws {
        var behaviour = EchoRadio.Behaviour()
        change(&behaviour)
        try await withEchoRadio(behaviour) { radio, address in
            let transport = BLETransport(to: .name("PROV_echo01"), times: .init(connect: connect)) {
                () async throws(BluetoothError) in
                try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            }
            try await body(radio, transport)
            await transport.close()
        }
    }

    private func expectAnswer(
        _ transport: BLETransport, on endpoint: Endpoint, at location: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await transport.exchange([1, 2], on: endpoint)
        #expect(answer == [2, 1], sourceLocation: location)
    }

    private func failure(_ transport: BLETransport, on endpoint: Endpoint) async -> BoardError? {
        do {
            _ = try await transport.exchange([1], on: endpoint)
            return nil
        } catch { return error }
    }

    @Test("because the adapter was not ready, gets another")
    func notReady() async throws {
        try await withRadio({ $0.connectErrors = [("org.bluez.Error.NotReady", "Resource Not Ready")] }) {
            radio, transport in
            try await expectAnswer(transport, on: .version)
            #expect(radio.log.count { $0 == "Connect" } == 2)
        }
    }

    @Test("because the adapter is never ready, is reported with that cause")
    func neverReady() async throws {
        let off = (name: "org.bluez.Error.NotReady", text: "Resource Not Ready")
        try await withRadio({ $0.connectErrors = Array(repeating: off, count: 1000) }, connect: .seconds(20)) {
            _, transport in
            let error = await failure(transport, on: .version)
            #expect(error?.code == .unreachable && error?.reason == "powered_off")
            #expect(error?.message.contains("bluetoothctl power on") == true)
        }
    }

    @Test("because BlueZ never answered, gets another in time")
    func hangingConnect() async throws {
        try await withRadio({ $0.hangingConnects = 1 }, connect: Self.limit) { radio, transport in
            try await expectAnswer(transport, on: .version)
            #expect(radio.log.count { $0 == "Connect" } == 2)
        }
    }

    @Test("because its services were never resolved, gets another in time")
    func unresolved() async throws {
        try await withRadio({ $0.unresolvedLinks = 1 }, connect: Self.limit) { radio, transport in
            try await expectAnswer(transport, on: .version)
            #expect(radio.log.count { $0 == "Connect" } == 2)
        }
    }

    @Test("because it broke, is found again by its name where its address changed")
    func address() async throws {
        try await withRadio({ $0.changesAddress = true }) { radio, transport in
            try await expectAnswer(transport, on: .session)
            for _ in 0..<2 {
                radio.befall(.linkEnds)
                let second = await failure(transport, on: .config)
                #expect(second?.code == .lost)
                try await expectAnswer(transport, on: .session)
            }
            #expect(radio.log.count { $0 == "Connect" } == 3)
        }
    }

    /// The board forgets a handshake with its link. The second round alone would count as a wrong proof.
    @Test("because it broke between two rounds of a handshake, is reported before the next round is sent")
    func betweenRounds() async throws {
        try await withRadio({ _ in }) { radio, transport in
            try await expectAnswer(transport, on: .session)
            radio.befall(.linkEnds)
            let second = await failure(transport, on: .session)
            #expect(second?.code == .lost)
            try await expectAnswer(transport, on: .session)
            #expect(radio.log.count { $0 == "Connect" } == 2)
        }
    }

    @Test("because BlueZ called a write unlikely, gets another session, and no proof is blamed")
    func unlikely() async throws {
        let unlikely = (name: "org.bluez.Error.Failed", text: "Operation failed with ATT error: 0x0e")
        try await withRadio({ $0.writeErrors = [unlikely] }) { radio, transport in
            let first = await failure(transport, on: .session)
            #expect(first?.code == .lost)
            try await expectAnswer(transport, on: .session)
            #expect(radio.log.count { $0 == "Connect" } == 2)
        }
    }

    @Test("because it lost its keys, is forgotten and paired again")
    func staleBond() async throws {
        try await withRadio({
            $0.isKnown = true; $0.hasStaleBond = true
        }) { radio, transport in
            try await expectAnswer(transport, on: .version)
            #expect(radio.log.count { $0 == "RemoveDevice" } == 1)
            #expect(radio.log.count { $0 == "Connect" } == 3)
        }
    }
}
