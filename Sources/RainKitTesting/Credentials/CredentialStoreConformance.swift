// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import Synchronization

/// Checks the guarantees of every `CredentialStore`. Run it on a new store before you use the store for sessions.
///
///     try await CredentialStoreConformance.check {
///         CredentialStoreConformance.Subject(MyStore(at: emptyPlace), other: MyStore(at: emptyPlace))
///     }
public enum CredentialStoreConformance {
    /// A store to check, on its own empty place.
    public struct Subject: Sendable {
        /// The checked store; it must hold no session.
        public var store: any CredentialStore
        /// A second store on the same place, like that of another process; nil if no other process can share it.
        public var other: (any CredentialStore)?
        /// Replaces the key's session by data that is not a session; nil if that is not possible.
        public var damage: (@Sendable (CredentialKey) async throws -> Void)?

        public init(
            _ store: any CredentialStore, other: (any CredentialStore)? = nil,
            damage: (@Sendable (CredentialKey) async throws -> Void)? = nil
        ) {
            self.store = store
            self.other = other
            self.damage = damage
        }

        fileprivate var both: [any CredentialStore] { [store, other ?? store] }
    }

    /// A broken guarantee, and the store's behaviour.
    public struct Failure: Error, CustomStringConvertible {
        /// The guarantee, as one sentence.
        public var promise: String
        /// The store's actual behaviour.
        public var detail: String
        public var description: String { "\(promise): \(detail)" }
    }

    /// Runs all checks, each on a separate subject. Throws the first ``Failure``.
    public static func check(_ make: @Sendable () async throws -> Subject) async throws {
        for check in [
            coming, keys, texts, largeSession, probing, exclusivity, atomicity, failingBody, deadline, cancellation,
            damaged,
        ] { try await check(try await make()) }
    }

    // MARK: - Stored sessions

    private static func coming(_ subject: Subject) async throws {
        let promise = "a saved session comes back, until it is removed"
        let key = try key()
        try await expect(nil, key, subject, promise)
        for text in ["a", "b", "b"] {
            try await save(session(text), key, subject.store)
            try await expect(session(text), key, subject, promise)
        }
        let inside = try await subject.store.exclusively(key, within: patience) { access async throws(AccountError) in
            try await access.load()
        }
        guard inside == session("b") else { throw Failure(promise: promise, detail: "not for the holder of the lock") }
        for _ in 0..<2 {
            try await remove(key, subject.store)
            try await expect(nil, key, subject, promise)
        }
    }

    private static func keys(_ subject: Subject) async throws {
        let promise = "each deployment and each account has its own session"
        let all = try [
            key("sim", nil), key("sim", "dev@example.com"), key("sim", "DEV@example.com"), key("sim", "ü/../ %2F"),
            key("lab", "dev@example.com"), key("lab", "+491701234567"),
        ]
        for (number, key) in all.enumerated() { try await save(session("\(number)"), key, subject.store) }
        for (number, key) in all.enumerated() { try await expect(session("\(number)"), key, subject, promise) }
        try await remove(all[1], subject.store)
        try await expect(nil, all[1], subject, promise)
        for (number, key) in all.enumerated() where number != 1 {
            try await expect(session("\(number)"), key, subject, promise)
        }
    }

    private static func texts(_ subject: Subject) async throws {
        let promise = "a session comes back byte for byte"
        let key = try key()
        for (name, token) in [("Zoë \u{1F510} \"\\", "a.b-c_d~e+f/g=="), ("line\nbreak\ttab", "\u{7F}\u{80}")] {
            var saved = session(token)
            saved.userName = name
            saved.tokens.received = UnixTime(seconds: 1_800_000_000.25)
            try await save(saved, key, subject.store)
            try await expect(saved, key, subject, promise)
            saved.tokens.refresh = nil
            saved.tokens.identity = nil
            saved.tokens.expires = nil
            try await save(saved, key, subject.store)
            try await expect(saved, key, subject, promise)
        }
    }

    private static func largeSession(_ subject: Subject) async throws {
        let promise = "a session of 100,000 bytes is kept"
        let key = try key()
        let large = session(String(repeating: "token-", count: 16_000))
        try await save(large, key, subject.store)
        try await expect(large, key, subject, promise)
        try await save(session("small"), key, subject.store)
        try await expect(session("small"), key, subject, promise)
    }

    private static func probing(_ subject: Subject) async throws {
        let promise = "a probe of a store that works changes nothing"
        let key = try key()
        try await subject.store.probe(key, within: patience)
        try await expect(nil, key, subject, promise)
        try await save(session("a"), key, subject.store)
        try await subject.store.probe(key, within: patience)
        try await expect(session("a"), key, subject, promise)
    }

    private static func damaged(_ subject: Subject) async throws {
        let promise = "data that is not a session is an error, and the next save replaces it"
        guard let damage = subject.damage else { return }
        let key = try key()
        try await save(session("a"), key, subject.store)
        try await damage(key)
        try await expect(.storeUnreadable, promise) { () async throws(AccountError) in
            _ = try await subject.store.load(key)
        }
        try await save(session("b"), key, subject.store)
        try await expect(session("b"), key, subject, promise)
    }

    // MARK: - Concurrent access

    private static func exclusivity(_ subject: Subject) async throws {
        let promise = "two tasks never hold the lock on one key"
        let key = try key()
        let tally = Tally()
        let tasks = 8
        let turns = 4
        try await save(session("0"), key, subject.store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<tasks {
                let store = subject.both[number % 2]
                group.addTask {
                    for _ in 0..<turns {
                        try await store.exclusively(key, within: patience) { access async throws(AccountError) in
                            if tally.inside.add(1, ordering: .acquiringAndReleasing).newValue > 1 {
                                tally.crowd.add(1, ordering: .relaxed)
                            }
                            defer { tally.inside.subtract(1, ordering: .acquiringAndReleasing) }
                            let count = Int(try await access.load()?.tokens.access.revealString() ?? "") ?? 0
                            await Task.yield()
                            try await access.save(session("\(count + 1)"))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        guard tally.crowd.load(ordering: .relaxed) == 0 else { throw Failure(promise: promise, detail: "two did") }
        try await expect(session("\(tasks * turns)"), key, subject, "no saved session is lost")
    }

    private static func atomicity(_ subject: Subject) async throws {
        let promise = "a reader gets a whole session while others write"
        let key = try key()
        let sessions = [session("short"), session(String(repeating: "long-", count: 2000))]
        try await save(sessions[0], key, subject.store)
        let tally = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { tally.isDone.store(true, ordering: .releasing) }
                for number in 1...30 { try await save(sessions[number % 2], key, subject.store) }
            }
            group.addTask {
                var reads = 0
                while reads < 5 || !tally.isDone.load(ordering: .acquiring) {
                    let found = try await subject.both[1].load(key)
                    guard let found, sessions.contains(found) else {
                        throw Failure(
                            promise: promise, detail: found == nil ? "there was no session" : "it was another session")
                    }
                    reads += 1
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
    }

    private static func failingBody(_ subject: Subject) async throws {
        let promise = "an error of the lock's holder is thrown, and the next task gets the lock"
        let key = try key()
        try await save(session("a"), key, subject.store)
        try await expect(.network, promise) { () async throws(AccountError) in
            try await subject.store.exclusively(key, within: patience) { _ async throws(AccountError) in
                throw AccountError(.network, message: "the body's own")
            }
        }
        try await expect(session("a"), key, subject, promise)
        try await save(session("b"), key, subject.both[1])
        try await expect(session("b"), key, subject, promise)
    }

    // MARK: - Waiting

    private static func deadline(_ subject: Subject) async throws {
        let promise = "a task that does not get the lock in time gets `timeout`"
        try await whileHeld(subject) { key in
            try await expect(.timeout, promise) { () async throws(AccountError) in
                try await subject.both[1].exclusively(key, within: .milliseconds(20)) { _ async throws(AccountError) in
                }
            }
            // Other sessions are not affected.
            let elsewhere = try self.key("sim", "someone@example.com")
            try await save(session("elsewhere"), elsewhere, subject.both[1])
        }
    }

    private static func cancellation(_ subject: Subject) async throws {
        let promise = "a task that is cancelled while waiting ends at once, and does not affect others"
        try await whileHeld(subject) { key in
            let waiting = Task { try await save(session("cancelled"), key, subject.both[1]) }
            try await Task.sleep(for: .milliseconds(20))
            waiting.cancel()
            try await expect(.cancelled, promise) { () async throws(AccountError) in
                do {
                    try await waiting.value
                } catch let error as AccountError {
                    throw error
                } catch {
                    throw AccountError(.rejected, message: "\(error)")
                }
            }
        }
        let key = try key()
        try await expect(session("held"), key, subject, promise)
        try await save(session("next"), key, subject.both[1])
    }

    /// Runs `body` while another task holds the lock on ``key()``, and then lets that task save.
    private static func whileHeld(_ subject: Subject, _ body: (CredentialKey) async throws -> Void) async throws {
        let key = try key()
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let holder = Task {
            try await subject.store.exclusively(key, within: patience) { access async throws(AccountError) in
                start.finish()
                for await _ in gate {}
                try await access.save(session("held"))
            }
        }
        for await _ in started {}
        do {
            try await body(key)
        } catch {
            opener.finish()
            _ = try? await holder.value
            throw error
        }
        opener.finish()
        try await holder.value
    }

    // MARK: - Steps

    /// The limit for getting the lock: a busy machine and a slow service are not failures.
    private static let patience = Duration.seconds(60)

    private static func key(
        _ deployment: String = "sim", _ account: String? = "dev@example.com"
    ) throws(AccountError) -> CredentialKey {
        try CredentialKey(deployment, account: account)
    }

    private static func session(_ text: String) -> SavedSession {
        SavedSession(
            provider: "rainmaker", userID: UserID("user-1"), userName: "dev@example.com",
            tokens: Tokens(
                access: Secret(text), refresh: Secret("refresh"), identity: Secret("identity"),
                received: UnixTime(seconds: 1_800_000_000), expires: UnixTime(seconds: 1_800_003_600)))
    }

    private static func save(_ session: SavedSession, _ key: CredentialKey, _ store: any CredentialStore) async throws {
        try await store.exclusively(key, within: patience) { access async throws(AccountError) in
            try await access.save(session)
        }
    }

    private static func remove(_ key: CredentialKey, _ store: any CredentialStore) async throws {
        try await store.exclusively(key, within: patience) { access async throws(AccountError) in
            try await access.remove()
        }
    }

    private static func expect(
        _ expected: SavedSession?, _ key: CredentialKey, _ subject: Subject, _ promise: String
    ) async throws {
        for (store, name) in zip(subject.both, ["the store", "another store on the same place"]) {
            let found = try await store.load(key)
            guard found == expected else {
                let detail =
                    found == nil
                    ? "nothing came back" : expected == nil ? "something came back" : "it came back changed"
                throw Failure(promise: promise, detail: "\(detail) from \(name), for \(key)")
            }
        }
    }

    private static func expect(
        _ code: AccountError.Code, _ promise: String, _ body: () async throws(AccountError) -> Void
    ) async throws {
        do throws(AccountError) {
            try await body()
        } catch {
            if error.code == code { return }
            throw Failure(promise: promise, detail: "expected \(code), got \(error)")
        }
        throw Failure(promise: promise, detail: "expected \(code), and nothing was thrown")
    }
}

/// Counters that concurrent tasks share.
private final class Tally: Sendable {
    let inside = Atomic(0)
    let crowd = Atomic(0)
    let isDone = Atomic(false)
}
