// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import RainKit
import TestSupport
import Testing

/// Many programs, one session whose refresh token is replaced with each renewal and good for one use, and a third of them told to end.
@Suite("One session for many programs, some of which are ended", .serialized)
struct EndedHerdTests {
    static let rounds = Gateway.isSoak ? 100 : 2
    static let processes = Gateway.isSoak ? 64 : 24

    private enum End: CaseIterable { case terminated, interrupted, timeLimit }

    @Test("no SIGTERM, no Ctrl-C and no time limit loses a session, whoever they meet")
    func ends() async throws {
        try await withTemporaryFolder { folder in
            // A token of ten minutes, so that a busy machine has no second one expire before the round is over.
            let gateway = try await Gateway(in: folder, options: ["--access-ttl", "600", "--refresh-grace", "0"])
            // Some of the way that an answer takes over a slow network: that is when there is something to lose.
            try await gateway.control(
                "faults", ["rules": [["method": "POST", "path": "/v1/login2", "action": "delay", "delay_ms": 250]]])
            var ended = 0
            for round in 1...Self.rounds {
                try await gateway.expire()
                let before = try gateway.refreshes().count
                ended += try await stampede(gateway, round)
                let outcome = try await gateway.maker.rainctl("account", "token", "--json")
                #expect(outcome.status == 0, "round \(round): \(outcome.standardOutput)")
                #expect(try await gateway.accepts(outcome.standardOutput.split(separator: "\n").joined()))
                #expect(try Array(gateway.refreshes()[before...]) == ["rotated"], "round \(round)")
            }
            #expect(ended > 0)
            let renewals = try gateway.refreshes()
            print(
                """
                ended, grace 0 s: \(Self.rounds) rounds of \(Self.processes) processes, \(ended) ended by a signal or their \
                time limit, \(renewals.count) renewals, \(renewals.count { $0 == "reused" }) sessions lost
                """)
        }
    }

    /// Starts all, ends a third of them at random moments, and up to three times whoever has the lock. Returns how many did not finish.
    private func stampede(_ gateway: Gateway, _ round: Int) async throws -> Int {
        let hunter = LockHunter(gateway.lock, signals: [SIGTERM, SIGINT], spread: .milliseconds(300))
        let hunt = Task { await hunter.run(prey: 3) }
        let statuses = try await withThrowingTaskGroup(of: (ChildExit, String).self) { group in
            for number in 0..<Self.processes {
                let end = number.isMultiple(of: 3) ? End.allCases.randomElement() : nil
                let delay = Duration.milliseconds(Int.random(in: 0...900))
                group.addTask {
                    let limit = "\(Int(delay / .milliseconds(1)) + 1)ms"
                    let child = try await gateway.maker.start(
                        ["account", "token"] + (end == .timeLimit ? ["--timeout", limit] : []))
                    defer { child.kill() }
                    // One signal each: a second one ends a program at once, as it should.
                    if end == nil || end == .timeLimit { hunter.mayEnd(child.pid) }
                    switch end {
                    case nil, .timeLimit: break
                    case .terminated, .interrupted:
                        try await Task.sleep(for: delay)
                        child.signal(end == .terminated ? SIGTERM : SIGINT)
                    }
                    return (try await child.wait(), child.standardError)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        hunter.stop()
        await hunt.value
        // Ended before it could say what to do with a signal, by the signal.
        let expected: [ChildExit] = [
            .exited(0), .exited(16), .exited(130), .signalled(Int(SIGTERM)), .signalled(Int(SIGINT)),
        ]
        for (status, errors) in statuses { #expect(expected.contains(status), "round \(round): \(status) \(errors)") }
        return statuses.count { $0.0 != .exited(0) }
    }
}
