// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import Glibc
import RainKitTesting
import Synchronization
import TestSupport
import Testing

@Suite("Stores keep the contract of all stores")
struct CredentialStoreConformanceTests {
    @Test("files")
    func files() async throws {
        let folder = try TemporaryFolder()
        let number = Counter()
        try await CredentialStoreConformance.check {
            let name = "sessions-\(number.next())"
            return CredentialStoreConformance.Subject(
                FileCredentialStore(folder: folder.file(name)), other: FileCredentialStore(folder: folder.file(name)),
                damage: { key in try folder.write("{\"half", to: "\(name)/\(key.name).json") })
        }
    }

    @Test("memory")
    func memory() async throws {
        try await CredentialStoreConformance.check { CredentialStoreConformance.Subject(InMemoryCredentialStore()) }
    }

    @Test("the checks find a store that saves nothing, one without a lock, and one that mixes up its keys")
    func defects() async throws {
        for defect in [Defective.Defect.forgets, .takesNoTurns, .hasOneKey] {
            let failure = await #expect(throws: CredentialStoreConformance.Failure.self) {
                try await CredentialStoreConformance.check {
                    CredentialStoreConformance.Subject(Defective(defect: defect))
                }
            }
            #expect(failure?.promise.isEmpty == false)
        }
    }
}

/// A store that breaks the contract in one way.
private struct Defective: CredentialStore {
    enum Defect { case forgets, takesNoTurns, hasOneKey }
    let defect: Defect
    let store = InMemoryCredentialStore()

    private func kept(_ key: CredentialKey) throws(AccountError) -> CredentialKey {
        defect == .hasOneKey ? try CredentialKey("one") : key
    }

    func load(_ key: CredentialKey) async throws(AccountError) -> SavedSession? { store.load(try kept(key)) }

    func exclusively<Result: Sendable>(
        _ key: CredentialKey, within limit: Duration,
        _ body: @Sendable (any CredentialAccess) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        let key = try kept(key)
        switch defect {
        case .forgets:
            return try await store.exclusively(key, within: limit) { _ async throws(AccountError) in
                try await body(Forgetful())
            }
        case .takesNoTurns: return try await body(Unguarded(store: store, key: key))
        case .hasOneKey: return try await store.exclusively(key, within: limit, body)
        }
    }

    struct Forgetful: CredentialAccess {
        func load() -> SavedSession? { nil }
        func save(_ session: SavedSession) {}
        func remove() {}
    }

    struct Unguarded: CredentialAccess {
        let store: InMemoryCredentialStore
        let key: CredentialKey
        func load() -> SavedSession? { store.load(key) }
        func save(_ session: SavedSession) async throws(AccountError) {
            try await store.exclusively(key, within: .seconds(120)) { access async throws(AccountError) in
                try await access.save(session)
            }
        }
        func remove() async throws(AccountError) {
            try await store.exclusively(key, within: .seconds(120)) { access async throws(AccountError) in
                try await access.remove()
            }
        }
    }
}

private final class Counter: Sendable {
    private let value = Mutex(0)
    func next() -> Int {
        value.withLock {
            $0 += 1
            return $0
        }
    }
}
