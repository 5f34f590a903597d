// SPDX-License-Identifier: Apache-2.0
@testable import IdentityProviders
@testable import RainAccount
import RainKitTesting
import Synchronization
import TestSupport
import Testing

/// Waiting for the lock of a store: callers get it in order, and may leave.
@Suite("Turns at a store")
struct TurnTests {
    /// A store whose lock is held until the gate opens.
    private struct Held {
        let holder: Task<AccountError?, Never>
        let open: @Sendable () -> Void

        init(_ store: any CredentialStore, _ key: CredentialKey) async {
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            let (gate, opener) = AsyncStream.makeStream(of: Void.self)
            open = { opener.finish() }
            holder = Task {
                await accountError { () throws(AccountError) in
                    try await store.exclusively(key, within: .seconds(120)) { _ throws(AccountError) in
                        start.finish()
                        for await _ in gate {}
                    }
                }
            }
            for await _ in started {}
        }
    }

    /// How many callers hold the lock now, held it at most, and held it in all.
    private final class Inside: Sendable {
        let counts = Mutex((now: 0, most: 0, all: 0))
    }

    private static func stores(_ folder: TemporaryFolder) -> [any CredentialStore] {
        [InMemoryCredentialStore(), FileCredentialStore(folder: folder.file("sessions"))]
    }

    @Test("every caller gets the lock, one at a time, and all finish", arguments: [0, 1])
    func oneAtATime(kind: Int) async throws {
        try await withTemporaryFolder { folder in
            let store = Self.stores(folder)[kind]
            let key = try CredentialKey("sim")
            let inside = Inside()
            await withTaskGroup(of: AccountError?.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        await accountError { () throws(AccountError) in
                            try await store.exclusively(key, within: .seconds(120)) { _ throws(AccountError) in
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

    /// The lock file is removed with each probe, while waiting callers already have it open.
    @Test("probes and changes of one account in an empty folder all finish, and leave no lock file")
    func probes() async throws {
        try await withTemporaryFolder { folder in
            let store = FileCredentialStore(folder: folder.file("sessions"))
            let (key, other) = (try CredentialKey("sim"), try CredentialKey("other"))
            let inside = Inside()
            await withTaskGroup(of: AccountError?.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        await accountError { () throws(AccountError) in
                            try await store.probe(key, within: .seconds(120))
                            try await store.probe(other, within: .seconds(120))
                            try await store.exclusively(key, within: .seconds(120)) { _ throws(AccountError) in
                                inside.counts.withLock {
                                    $0.now += 1
                                    $0.all += 1
                                    $0.most = max($0.most, $0.now)
                                }
                                for _ in 0..<number { await Task.yield() }
                                inside.counts.withLock { $0.now -= 1 }
                            }
                        }
                    }
                }
                for await error in group { #expect(error == nil) }
            }
            #expect(inside.counts.withLock { $0.most } == 1)
            #expect(inside.counts.withLock { $0.all } == 8)
            #expect(try files(in: folder.file("sessions")).allSatisfy { !$0.contains("other") })
        }
    }

    @Test("a caller that leaves or times out leaves alone, and at once", arguments: [0, 1])
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
}
