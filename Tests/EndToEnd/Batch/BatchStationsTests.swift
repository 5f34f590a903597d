// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Three stations at one list of boards, in a database that others wrote.
@Suite("Three stations on one PostgreSQL ledger")
struct BatchStationsTests {
    @Test(
        "stations, database, cloud and broker are killed again and again: no board is lost, and none is mapped twice")
    func stations() async throws {
        try await withTemporaryFolder { folder in
            try await PostgreSQLServer.with { server in
                let wanted = isSoak ? 1000 : 40
                let shop = try await Workshop.open(isSoak ? 400 : 24, folder, restarts: true)
                try shop.write()
                let place = ["--ledger", try await server.url()]
                let more = shop.common + place + ["--at-once", "3", "--station-timeout", "3s"]
                // Begins the batch, and ends at once.
                let first = try await shop.run(["run", folder.file("boards.csv"), "--timeout", "1ms"] + more)
                #expect([0, 16, 130].contains(first.status), "\(first.error)")

                var random = SeededGenerator(seed: 5)
                var stations: [ChildProcess?] = [nil, nil, nil]
                var (kills, databases, clouds) = (0, 0, 0)
                var isDone = false
                while !isDone {
                    for (index, station) in stations.enumerated() where station == nil {
                        stations[index] = try await shop.start(["resume", "--station", "bench-\(index)"] + more)
                    }
                    let index = Int.random(in: 0..<3, using: &random)
                    // Each life ends after a while, or by itself.
                    let life = Duration.milliseconds(Int.random(in: 50...(isSoak ? 150 : 1000), using: &random))
                    let ended = kills < wanted ? try? await stations[index]?.wait(within: life) : nil
                    isDone = try await shop.nodes().count == shop.radio.boards.count
                    if ended != nil {
                        stations[index] = nil
                        continue
                    }
                    guard kills < wanted else {
                        try await Task.sleep(for: .milliseconds(100))
                        continue
                    }
                    stations[index]?.kill()
                    _ = try await stations[index]?.wait()
                    stations[index] = nil
                    kills += 1
                    if kills % 7 == 0 {
                        try await server.crash()
                        try await server.start()
                        databases += 1
                    }
                    if kills % 11 == 0 {
                        try await shop.restartCloud(pause: .milliseconds(Int.random(in: 0...1500, using: &random)))
                        clouds += 1
                    }
                }
                for station in stations.compactMap({ $0 }) { _ = try await station.wait(within: .waitLimit * 4) }
                // What was not recorded when a station was killed is recorded now, and nothing is done again.
                let last = try await shop.run(["resume"] + more)
                #expect(
                    last.status == 0 && last.document["done"]?.integer == Int64(shop.radio.boards.count),
                    "\(last.error)\(last.document)")
                let report = try await shop.run(["report", "--json"] + place)
                try await shop.check(report.document)
                let states = try await server.sql("select distinct state from s1.boards")
                #expect(states.split(separator: "\n") == ["done"])
                // Says how much a run has seen.
                print("\(kills) kills of stations, \(databases) of the database, \(clouds) of cloud and broker")
                #expect(kills >= (isSoak ? wanted : 3))
                try await shop.close()
            }
        }
    }

    @Test("a station that is killed as soon as a step of a board begins or ends: resume does only what is missing")
    func everyStep() async throws {
        try await withTemporaryFolder { folder in
            try await PostgreSQLServer.with { server in
                let steps = [
                    "account", "resume", "identify", "challenge", "secure", "associate", "verify", "join", "connect",
                    "confirm",
                ]
                let moments = steps.flatMap { step in ["started", "finished"].map { (step, $0) } }
                let shop = try await Workshop.open(moments.count, folder, restarts: true)
                try shop.write()
                let place = ["--ledger", try await server.url()]
                let more = shop.common + place + ["--at-once", "1", "--station-timeout", "1s"]
                var reached = 0
                for (number, (step, state)) in moments.enumerated() {
                    let begin = number == 0 ? ["run", folder.file("boards.csv")] : ["resume"]
                    let child = try await shop.start(begin + more.filter { $0 != "--json" } + ["--events", "ndjson"])
                    while let line = try await child.line(within: .waitLimit) {
                        let event = try? JSONValue(parsing: Array(line.utf8))
                        guard event?["step"]?.string == step, event?["state"]?.string == state else { continue }
                        reached += 1
                        break
                    }
                    child.kill()
                    _ = try await child.wait()
                }
                #expect(reached >= moments.count / 2, "\(reached) of \(moments.count) moments")
                let last = try await shop.run(["resume"] + more)
                #expect(last.status == 0, "\(last.error)\(last.document)")
                try await shop.check(shop.run(["report", "--json"] + place).document)
                try await shop.close()
            }
        }
    }
}
