// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainAccount
import RainJSON
import RainKit
import Synchronization
import TestSupport
import Testing
import RainCore

/// Programs that die at any moment while they renew a session.
@Suite("Sessions and kill -9", .serialized)
struct KillTests {
    static let rounds = Gateway.isSoak ? 100 : 3
    static let processes = Gateway.isSoak ? 32 : 16

    @Test(
        "no kill loses a session while the cloud has grace; without it, one between its answer and our disk may",
        arguments: [10, 0])
    func kills(grace: Int) async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await Gateway(
                in: folder, options: ["--access-ttl", "600", "--refresh-grace", "\(grace)"])
            let reader = Reader(gateway)
            let reading = Task { await reader.run() }
            var lost = 0
            var killed = 0
            for round in 1...Self.rounds {
                try await gateway.expire()
                let before = try gateway.refreshes().count
                killed += try await stampede(gateway, mayEnd: grace == 0, round)

                // All are gone, and so are their locks: nobody waits here.
                let free = try await run("flock", ["--nonblock", gateway.lock, "true"])
                #expect(free.status == .exited(0), "round \(round): a lock has outlived its holder")

                let outcome = try await gateway.maker.rainctl("account", "token", "--json")
                if outcome.status == 77 {
                    lost += 1
                    #expect(
                        try gateway.refreshes()[before...].contains("reused"),
                        "the cloud's own word, for a token used twice")
                    try await gateway.maker.signIn(to: gateway.cloud)
                } else {
                    #expect(outcome.status == 0, "round \(round): \(outcome.standardOutput)")
                    #expect(try await gateway.accepts(outcome.standardOutput.split(separator: "\n").joined()))
                }
            }
            reader.stop()
            await reading.value
            #expect(reader.failures == [], "the store could be read at every moment")
            if grace > 0 { #expect(lost == 0) }
            #expect(lost <= killed)
            let outcomes = try gateway.refreshes()
            print(
                """
                kill -9, grace \(grace) s: \(Self.rounds) rounds of \(Self.processes) processes, \(killed) killed, \
                \(outcomes.count) renewals (\(outcomes.count { $0 == "grace" }) by grace), \
                \(lost) sessions lost, the store read \(reader.count) times
                """)
        }
    }

    /// Starts all, kills some of them and waits for the rest. Returns how many were killed.
    ///
    /// A quarter of the processes die at moments from their start to beyond their end. Up to three times, the process with the lock dies
    /// during its turn, when there is something to lose.
    private func stampede(_ gateway: Gateway, mayEnd: Bool, _ round: Int) async throws -> Int {
        let hunter = LockHunter(gateway.lock, signals: [SIGKILL])
        let hunt = Task { await hunter.run(prey: 3) }
        let statuses = try await withThrowingTaskGroup(of: (ChildExit, String).self) { group in
            for number in 0..<Self.processes {
                let delay = Duration.milliseconds(Int.random(in: 0...600))
                group.addTask {
                    let child = try await gateway.maker.start(["account", "token"])
                    defer { child.kill() }
                    hunter.mayEnd(child.pid)
                    if number.isMultiple(of: 4) {
                        try await Task.sleep(for: delay)
                        child.signal(SIGKILL)
                    }
                    return (try await child.wait(), child.standardError)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        hunter.stop()
        await hunt.value
        for (status, errors) in statuses where status != .signalled(Int(SIGKILL)) {
            // Without grace the session may be over by now.
            #expect(status == .exited(0) || mayEnd && status == .exited(77), "round \(round): \(errors)")
        }
        return statuses.count { $0.0 == .signalled(Int(SIGKILL)) }
    }

    /// Reads the store again and again, as a program would that comes at a bad moment.
    private final class Reader: Sendable {
        private struct State {
            var isStopped = false
            var failures: [String] = []
            var count = 0
        }
        private let gateway: Gateway
        private let state = Mutex(State())

        init(_ gateway: Gateway) { self.gateway = gateway }

        var failures: [String] { state.withLock { $0.failures } }
        var count: Int { state.withLock { $0.count } }
        func stop() { state.withLock { $0.isStopped = true } }

        func run() async {
            while !state.withLock({ $0.isStopped }) {
                do {
                    _ = try await gateway.session()
                    state.withLock { $0.count += 1 }
                } catch {
                    state.withLock { if $0.failures.count < 10 { $0.failures.append("\(error)") } }
                }
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
    }
}
