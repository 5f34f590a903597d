// SPDX-License-Identifier: Apache-2.0
@testable import BrowserSignIn
@testable import IdentityProviders
@testable import RainAccount
import Glibc
import RainKitTesting
import Synchronization
import Testing
import TestSupport
import RainCore

/// Waiting for a turn: by the event, in order, and free to leave.
@Suite("Turns at a store")
struct TurnTests {
    /// A store whose turn somebody holds until the gate opens.
    private struct Held {
        let holder: Task<AccountError?, Never>
        let open: @Sendable () -> Void

        init(_ store: any CredentialStore, _ key: CredentialKey) async {
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            let (gate, opener) = AsyncStream.makeStream(of: Void.self)
            open = { opener.finish() }
            holder = Task {
                await accountError { () throws(AccountError) in
                    try await store.exclusively(key, within: .seconds(20)) { _ throws(AccountError) in
                        start.finish()
                        for await _ in gate {}
                    }
                }
            }
            for await _ in started {}
        }
    }

    /// How many have their turn now, had at most, and had at all.
    private final class Inside: Sendable {
        let counts = Mutex((now: 0, most: 0, all: 0))
    }

    private static func stores(_ folder: TemporaryFolder) -> [any CredentialStore] {
        [InMemoryCredentialStore(), FileCredentialStore(folder: folder.file("sessions"))]
    }

    @Test("everyone has a turn, one at a time, and the turns come to an end", arguments: [0, 1])
    func oneAtATime(kind: Int) async throws {
        try await withTemporaryFolder { folder in
            let store = Self.stores(folder)[kind]
            let key = try CredentialKey("sim")
            let inside = Inside()
            await withTaskGroup(of: AccountError?.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        await accountError { () throws(AccountError) in
                            try await store.exclusively(key, within: .seconds(20)) { _ throws(AccountError) in
                                inside.counts.withLock {
                                    $0.now += 1
                                    $0.all += 1
                                    $0.most = max($0.most, $0.now)
                                }
                                await Task.yield()
                                inside.counts.withLock { $0.now -= 1 }
                            }
                        }
                    }
                }
                for await error in group { #expect(error == nil) }
            }
            #expect(inside.counts.withLock { $0.most } == 1)
            #expect(inside.counts.withLock { $0.all } == 100)
        }
    }

    @Test("who leaves or runs out of time leaves alone, and at once", arguments: [0, 1])
    func leaving(kind: Int) async throws {
        try await withTemporaryFolder { folder in
            let store = Self.stores(folder)[kind]
            let key = try CredentialKey("sim")
            let held = await Held(store, key)
            let wait = { @Sendable (limit: Duration) in
                Task {
                    await accountError { () throws(AccountError) in
                        try await store.exclusively(key, within: limit) { _ throws(AccountError) in }
                    }
                }
            }
            let staying = wait(.seconds(20))
            let late = wait(.milliseconds(30))
            #expect(await late.value?.code == .timeout)
            let leaving = wait(.seconds(20))
            leaving.cancel()
            #expect(await leaving.value?.code == .cancelled)
            held.open()
            #expect(await staying.value == nil)
            #expect(await held.holder.value == nil)
            #expect(await wait(.seconds(20)).value == nil, "the turn is free again")
        }
    }

    @Test("a process that holds the lock and dies lets the next one in, without a wait of its own")
    func deadHolder() async throws {
        try await withTemporaryFolder { folder in
            let store = FileCredentialStore(folder: folder.file("sessions"))
            let key = try CredentialKey("sim")
            try await store.exclusively(key, within: .seconds(1)) { _ throws(AccountError) in }
            // util-linux's flock(1): it says when it has the lock, and keeps it.
            try await withChildProcess(
                "flock", [folder.file("sessions/sim.lock"), "sh", "-c", "echo held; cat"], input: .open
            ) { holder in
                #expect(try await holder.readyLine() == "held")
                let threads = try threadCount()
                let waiting = (0..<50).map { _ in
                    Task {
                        await accountError { () throws(AccountError) in
                            try await store.exclusively(key, within: .seconds(20)) { _ throws(AccountError) in }
                        }
                    }
                }
                let late = await accountError { () throws(AccountError) in
                    try await store.exclusively(key, within: .milliseconds(50)) { _ throws(AccountError) in }
                }
                #expect(late?.code == .timeout)
                #expect(try threadCount() <= threads + 8, "fifty wait, and not by a thread each")
                for task in waiting.prefix(20) { task.cancel() }
                for task in waiting.prefix(20) { #expect(await task.value?.code == .cancelled) }
                holder.kill()
                for task in waiting.dropFirst(20) { #expect(await task.value == nil) }
            }
        }
    }

    @Test("a lock that comes when nobody wants it any more is given back")
    func unwanted() async throws {
        try await withTemporaryFolder { folder in
            let store = FileCredentialStore(folder: folder.file("sessions"))
            let key = try CredentialKey("sim")
            try await store.exclusively(key, within: .seconds(1)) { _ throws(AccountError) in }
            let lock = folder.file("sessions/sim.lock")
            try await withChildProcess("flock", [lock, "sh", "-c", "echo held; cat"], input: .open) { holder in
                _ = try await holder.readyLine()
                let late = await accountError { () throws(AccountError) in
                    try await store.exclusively(key, within: .milliseconds(10)) { _ throws(AccountError) in }
                }
                #expect(late?.code == .timeout)
                holder.kill()
                // Another process gets it, although ours was next in the kernel's queue.
                let next = try await run("flock", ["--timeout", "10", lock, "true"])
                #expect(next.status == .exited(0))
            }
        }
    }

    private func threadCount() throws -> Int {
        let line = try readFile("/proc/self/status").split(separator: "\n").first { $0.hasPrefix("Threads:") }
        return Int(line?.split(separator: "\t").last ?? "") ?? 0
    }
}
