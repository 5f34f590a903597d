// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainAccount
import RainCore
import RainKitTesting
import TestSupport
import Testing

extension SecretServiceTests {
    @Test("keeps what every store promises, with a real keyring")
    func conformance() async throws {
        try await Self.withKeyring { bus, _ in
            try await CredentialStoreConformance.check {
                // Each check finds an empty place: nothing of ours is left from the one before.
                try await Self.clear(bus)
                return CredentialStoreConformance.Subject(
                    Self.store(bus), other: Self.store(bus),
                    damage: { key in
                        let stored = try await bus.run(
                            "secret-tool",
                            [
                                "store", "--label=damaged", "xdg:schema", "org.rainkit.Session", "deployment",
                                key.deployment, "account", key.account ?? "",
                            ], input: .text("{\"half"))
                        #expect(stored.status == .exited(0), "\(stored.standardError)")
                    })
            }
        }
    }

    private static func clear(_ bus: SessionBusDaemon) async throws {
        for deployment in ["sim", "lab"] {
            _ = try await bus.run("secret-tool", ["clear", "deployment", deployment])
        }
    }

    @Test("another program finds the item by its attributes, and only the account that it asks for")
    func foreign() async throws {
        try await Self.withKeyring { bus, _ in
            let store = Self.store(bus)
            let key = try CredentialKey("sim", account: "dev@example.com")
            try await store.save(session("planted-token"), key)
            func lookup(_ account: String) async throws -> FinishedProcess {
                try await bus.run(
                    "secret-tool",
                    ["lookup", "xdg:schema", "org.rainkit.Session", "deployment", "sim", "account", account])
            }
            let found = try await lookup("dev@example.com")
            #expect(found.status == .exited(0))
            #expect(found.standardOutput.contains("planted-token"))
            #expect(try await lookup("other@example.com").standardOutput.isEmpty)
            // What another program keeps under the same attributes is not taken for ours.
            let other = try CredentialKey("sim", account: "other@example.com")
            let stored = try await bus.run(
                "secret-tool", ["store", "--label=theirs", "deployment", "sim", "account", "other@example.com"],
                input: .text("theirs"))
            #expect(stored.status == .exited(0))
            #expect(try await store.load(other) == nil)
            try await store.remove(other)
            let theirs = try await bus.run(
                "secret-tool", ["lookup", "deployment", "sim", "account", "other@example.com"])
            #expect(theirs.standardOutput == "theirs")
            try await store.remove(key)
            #expect(try await lookup("dev@example.com").standardOutput.isEmpty)
        }
    }

    @Test("a session outlives the service, which comes back locked: an error, nothing changed, nobody asked")
    func locked() async throws {
        let key = try CredentialKey("sim", account: "kept@example.com")
        try await Self.withKeyring { bus, _ in try await Self.store(bus).save(session("kept"), key) }
        try await Self.withKeyring(unlocked: false) { bus, _ in
            let store = Self.store(bus)
            let elsewhere = try CredentialKey("lab", account: "new@example.com")
            let probed = await accountError { () throws(AccountError) in
                try await store.probe(elsewhere, within: .waitLimit)
            }
            #expect(probed?.code == .storeLocked)
            #expect(probed?.message.contains("unlock") == true)
            let loaded = await accountError { () throws(AccountError) in try await store.load(key) }
            #expect(loaded?.code == .storeLocked)
            for change in [key, elsewhere] {
                let saved = await accountError { () throws(AccountError) in
                    try await store.save(session("new"), change)
                }
                #expect(saved?.code == .storeLocked)
            }
            let removed = await accountError { () throws(AccountError) in try await store.remove(key) }
            #expect(removed?.code == .storeLocked)
        }
        // The same process goes on when the keyring is unlocked again.
        try await Self.withKeyring { bus, _ in
            let store = Self.store(bus)
            #expect(try await store.load(key) == session("kept"))
            try await store.remove(key)
        }
    }

    @Test("a service that owns the name and never answers is given up on, however it is asked")
    func silent() async throws {
        let bus = try await Bus.shared.value
        let service = try await SilentSecretService(on: bus)
        let store = Self.store(bus, deadline: .milliseconds(300))
        let key = try CredentialKey("sim")
        let probed = await accountError { () throws(AccountError) in try await store.probe(key, within: .waitLimit) }
        let loaded = await accountError { () throws(AccountError) in try await store.load(key) }
        let saved = await accountError { () throws(AccountError) in try await store.save(session("a"), key) }
        for error in [probed, loaded, saved] {
            #expect(error?.code == .storeNotAnswering)
            #expect(error?.message.contains("0.3 seconds") == true)
        }
        // Whoever is cancelled does not wait for the deadline.
        let patient = Self.store(bus)
        let waiting = Task { await accountError { () throws(AccountError) in try await patient.load(key) } }
        try await Task.sleep(for: .milliseconds(50))
        waiting.cancel()
        #expect(await waiting.value?.code == .cancelled)
        try await service.end()
    }

    @Test("a service that hangs in the middle is given up on, and is used again when it goes on")
    func hangs() async throws {
        try await Self.withKeyring { bus, keyring in
            let key = try CredentialKey("sim", account: "hang@example.com")
            try await Self.store(bus).save(session("before"), key)
            keyring.stop()
            let impatient = Self.store(bus, deadline: .milliseconds(300))
            let loaded = await accountError { () throws(AccountError) in try await impatient.load(key) }
            #expect(loaded?.code == .storeNotAnswering)
            let others = try await withThrowingTaskGroup(of: AccountError.Code?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        await accountError { () throws(AccountError) in try await impatient.load(key) }?.code
                    }
                }
                var codes: Set<AccountError.Code?> = []
                for try await code in group { codes.insert(code) }
                return codes
            }
            #expect(others == [.storeNotAnswering])
            keyring.resume()
            #expect(try await Self.store(bus).load(key) == session("before"))
            try await Self.store(bus).remove(key)
        }
    }

    @Test("a bus without a Secret Service is reported at once")
    func absent() async throws {
        let bus = try await Bus.shared.value
        let store = Self.store(bus)
        let key = try CredentialKey("sim")
        let start = ContinuousClock.now
        let error = await accountError { () throws(AccountError) in try await store.load(key) }
        #expect(error?.code == .storeAbsent)
        #expect(error?.remedies == [.fileStore])
        #expect(ContinuousClock.now - start < Timings.limit(.seconds(15)))
    }

    @Test("what is too long for a session is refused before it is sent")
    func tooLong() async throws {
        let bus = try await Bus.shared.value
        let store = Self.store(bus)
        let key = try CredentialKey("sim")
        let long = session(String(repeating: "x", count: 300 << 10))
        let error = await accountError { () throws(AccountError) in try await store.save(long, key) }
        #expect(error?.code == .cannotStore)
    }
}
