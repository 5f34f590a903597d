// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Many boards through one radio that aborts a third of all connections: a gateway's life, counted.
///
/// `make test` runs a short cut; `RAINKIT_SOAK=1` runs the thousand boards of the promise. `make bench` has the official client's rate on
/// the same faults beside ours.
@Suite("A thousand boards", .serialized)
struct FleetTests {
    static let isSoak = currentEnvironment()["RAINKIT_SOAK"] == "1"
    static let boards = isSoak ? 1000 : 60
    /// A third of all connections are aborted, and one session in twenty is lost (one in five in the short run, so that there are some).
    /// The object of every fifth board vanishes before the first connection.
    static let faults = ["abort=0.35", isSoak ? "lose=0.05" : "lose=0.2", "stale=0.2", "disconnect=0.2"]

    @Test("a third of the connections aborted, sessions lost in the middle: all of them get there, each once")
    func faults() async throws {
        try await withTemporaryFolder { folder in
            let nodes = (0..<Self.boards).map { "fleet-node-\(10_000 + $0)" }
            let cloud = try await SimulatedCloud.start(nodes: nodes, in: folder)
            try folder.write(cloud.readyDocument, to: "nodes.json")
            let radio = try await SimulatedBluetooth.start(
                [
                    "--boards", "\(Self.boards)", "--nodes", folder.file("nodes.json"), "--mapping", "ch-resp",
                    "--seed", "1",
                    // Where the link is lost for good as the board joins, the cloud's connection to it is what tells.
                    "--mqtt", cloud.mqtt, "--ca", cloud.ca,
                ]
                    + Self.faults.flatMap { ["--ble-fault", $0] }, in: folder)
            let order = JSONValue.object([
                .init("api", .string(cloud.api)), .init("user", .string(SimulatedCloud.user)),
                .init("password", .string(SimulatedCloud.password)), .init("ssid", .string(SimulatedBoard.ssid)),
                .init("passphrase", .string(SimulatedBoard.passphrase)), .init("atOnce", 25), .init("timeout", 120),
                .init(
                    "boards",
                    .array(
                        radio.boards.map {
                            .object([
                                .init("address", .string($0.address)),
                                .init("proofOfPossession", .string($0.proofOfPossession)),
                            ])
                        })),
            ])
            let began = ContinuousClock.now
            let finished = try await run(
                Executables.path("fleet"), [], environment: radio.environment,
                input: .text(String(decoding: order.serialized(), as: UTF8.self)), within: .seconds(1800))
            let lines = try finished.standardOutput.split(separator: "\n").map {
                try JSONValue(parsing: Array($0.utf8))
            }
            let results = lines.filter { $0["event"]?.string == "board" }
            let failures = results.filter { $0["ok"]?.bool != true }
            // One in a thousand may fail; a board without a line would have hung.
            #expect(results.count == Self.boards, "\(finished.standardError)")
            #expect(failures.count <= Self.boards / 1000, "\(failures.map { "\($0)" })")

            let confirmed = try cloud.journal.entries(where: ["event": "mapping", "state": "confirmed"])
                .compactMap { $0["node"]?.string }
            #expect(confirmed.count == Set(confirmed).count, "a board was mapped twice")
            #expect(confirmed.count == results.count - failures.count)

            let aborted = try radio.journal.entries(where: ["event": "fault", "what": "abort"]).count
            let lost = try radio.journal.entries(where: ["event": "fault", "what": "lose"]).count
            // Else the radio was kinder than it says.
            #expect(aborted > Self.boards / 6 && lost > 0, "\(aborted) aborted, \(lost) lost")
            let seconds = results.compactMap { $0["seconds"]?.double }.sorted()
            print(
                "fleet: \(results.count - failures.count) of \(Self.boards) boards provisioned, "
                    + "\(aborted) connections aborted, \(lost) sessions lost; median \(seconds[seconds.count / 2]) s, "
                    + "slowest \(seconds.last ?? 0) s a board, \(ContinuousClock.now - began) in all")
            try await radio.process.terminate()
            try await radio.bus.end()
            try await cloud.process.terminate()
        }
    }
}
