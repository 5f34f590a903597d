// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import ProtocommTransports
import RainDBus
import TestSupport
import Testing

@Suite("Reading the names of a board's endpoints")
struct EndpointNameTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A radio whose board BlueZ knows from before: nothing but a doubt about its endpoints makes BlueZ forget it.
    private func withRadio(
        _ reads: [EchoRadio.NameRead], endpoints: [String]? = nil, connect: Duration = .seconds(30),
        _ body: (EchoRadio, BLETransport) async throws -> Void
    ) async throws {
        var behaviour = EchoRadio.Behaviour()
        behaviour.isKnown = true
        behaviour.nameReads = reads
        if let endpoints { behaviour.endpoints = endpoints }
        try await withEchoRadio(behaviour) { radio, address in
            let transport = BLETransport(to: .name("PROV_echo01"), times: .init(connect: connect)) {
                () async throws(BluetoothError) in
                try await BluetoothCentral.open(bus: .at(address), logger: Self.silent)
            }
            try await body(radio, transport)
            #expect(!radio.log.contains("RemoveDevice"))
            await transport.close()
        }
    }

    @Test("ends with the time for the connection where nobody answers", .timeLimit(.minutes(5)))
    func silence() async throws {
        // The link must have been made by then, which a busy machine needs longer for.
        let limit = Duration.seconds(Timings.isAlone ? 1 : 10)
        try await withRadio(Array(repeating: .silent, count: 100), connect: limit) { _, transport in
            let began = ContinuousClock.now
            await #expect { try await transport.exchange([1], on: .version) } throws: {
                ($0 as? BoardError)?.reason == "connection_failed"
            }
            // A lot less than a name alone may take.
            #expect(ContinuousClock.now - began < Timings.limit(.seconds(6)))
        }
    }

    @Test("goes on where the board was busy for a moment")
    func busy() async throws {
        let busy = EchoRadio.NameRead.failing(name: "org.bluez.Error.InProgress", text: "In Progress")
        try await withRadio([busy, busy, .answered, busy]) { radio, transport in
            let answer = try await transport.exchange([1, 2], on: .version)
            #expect(answer == [2, 1])
            #expect(radio.log.count { $0 == "Connect" } == 1)
        }
    }

    @Test("starts again with another connection if the link's end cut it off, and BlueZ calls that unlikely")
    func cutOff() async throws {
        let cutOff = EchoRadio.NameRead.cutOff(
            name: "org.bluez.Error.Failed", text: "Operation failed with ATT error: 0x0e")
        try await withRadio([.answered, .answered, cutOff]) { radio, transport in
            let answer = try await transport.exchange([1, 2], on: .version)
            #expect(answer == [2, 1])
            #expect(radio.log.count { $0 == "Connect" } == 2)
        }
    }

    @Test("is not needed where the board refuses it: the usual ids do")
    func refused() async throws {
        let refusal = EchoRadio.NameRead.failing(
            name: "org.bluez.Error.NotPermitted", text: "Read not permitted")
        let names = ["prov-scan", "prov-session", "prov-config", "proto-ver"]
        try await withRadio(Array(repeating: refusal, count: 4), endpoints: names) { radio, transport in
            let answer = try await transport.exchange([1, 2], on: .version)
            #expect(answer == [2, 1])
            #expect(radio.log.count { $0 == "Connect" } == 1)
        }
    }
}
