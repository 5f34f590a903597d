// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Three stations at one list of boards, in a database that others wrote.
@Suite("Three stations on one PostgreSQL ledger", .serialized)
struct BatchStationsTests {
    @Test("stations and database are killed again and again: no board is lost, and none is mapped twice")
    func stations() async throws {
        try await withTemporaryFolder { folder in
            try await PostgreSQLServer.with { server in
                let shop = try await Workshop.open(isSoak ? 200 : 18, folder)
                try shop.write()
                let more =
                    shop.common + ["--ledger", try await server.url(), "--at-once", "3", "--station-timeout", "3s"]
                // Begins the batch, and ends at once.
                let first = try await shop.run(["run", folder.file("boards.csv"), "--timeout", "1ms"] + more)
                #expect([0, 16, 130].contains(first.status), "\(first.error)")

                var random = SeededGenerator(seed: 5)
                var stations: [ChildProcess?] = [nil, nil, nil]
                var (kills, crashes) = (0, 0)
                while try Set(shop.confirmed()).count < shop.radio.boards.count {
                    for (index, station) in stations.enumerated() where station == nil {
                        stations[index] = try await shop.start(["resume", "--station", "bench-\(index)"] + more)
                    }
                    let index = Int.random(in: 0..<3, using: &random)
                    // Each life ends after a while, or by itself.
                    let life = Duration.milliseconds(Int.random(in: 100...1500, using: &random))
                    if let station = stations[index], (try? await station.wait(within: life)) != nil {
                        stations[index] = nil
                        continue
                    }
                    guard kills < 40 else { continue }
                    stations[index]?.kill()
                    _ = try await stations[index]?.wait()
                    stations[index] = nil
                    kills += 1
                    if kills % 7 == 0 {
                        try await server.crash()
                        try await server.start()
                        crashes += 1
                    }
                }
                for station in stations.compactMap({ $0 }) { _ = try await station.wait(within: .seconds(300)) }
                // What was not recorded when a station was killed is recorded now, and nothing is done again.
                let last = try await shop.run(["resume"] + more)
                #expect(
                    last.status == 0 && last.document["done"]?.integer == Int64(shop.radio.boards.count),
                    "\(last.error)")
                let nodes = try shop.confirmed()
                #expect(nodes.count == Set(nodes).count, "a board was mapped twice")
                #expect(nodes.count == shop.radio.boards.count && kills > 2, "\(kills) kills, \(crashes) crashes")
                let states = try await server.sql("select distinct state from s1.boards")
                #expect(states.split(separator: "\n") == ["done"])
                try await shop.close()
            }
        }
    }
}
