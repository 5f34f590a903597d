// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainAccount
import RainCore
import TestSupport
import Testing

/// A session bus, and stores on it. GLib reads the address from the process's own environment, once: these tests share
/// one bus, on which keyrings come and go, and run one after the other. Programs that tests start do not inherit the address, see
/// ``currentEnvironment()``.
@Suite("Secret Service", .serialized)
struct SecretServiceTests {}

enum Bus {
    /// Started by the first test, ended with the test run.
    static let shared = Task { () async throws -> SessionBusDaemon in
        let folder = try TemporaryFolder()
        folder.removeAtExit()
        let bus = try await SessionBusDaemon(in: folder)
        setenv("DBUS_SESSION_BUS_ADDRESS", bus.address, 1)
        return bus
    }
}

extension SecretServiceTests {
    /// Runs `body` with an unlocked keyring on the bus.
    static func withKeyring(
        unlocked: Bool = true, _ body: (SessionBusDaemon, Keyring) async throws -> Void
    ) async throws {
        let bus = try await Bus.shared.value
        let keyring = try await Keyring(on: bus, unlocked: unlocked)
        do {
            try await body(bus, keyring)
        } catch {
            keyring.resume()
            try await keyring.end()
            throw error
        }
        keyring.resume()
        try await keyring.end()
    }

    static func store(_ bus: SessionBusDaemon, deadline: Duration? = nil) -> SecretServiceStore {
        var deadlines = SecretServiceStore.Deadlines()
        // Long enough for a busy machine, unless a test gives another deadline.
        deadlines.probe = deadline ?? .seconds(120)
        deadlines.load = deadline ?? .seconds(120)
        deadlines.save = deadline ?? .seconds(120)
        return SecretServiceStore(
            lockFolder: bus.folder.file("locks"), environment: bus.environment, deadlines: deadlines)
    }
}

func session(_ text: String) -> SavedSession {
    SavedSession(
        provider: "rainmaker", userID: UserID("user-1"), userName: "dev@example.com",
        tokens: Tokens(access: Secret(text), refresh: Secret("refresh"), received: UnixTime(seconds: 1_800_000_000)))
}

extension SecretServiceStore {
    func save(_ session: SavedSession, _ key: CredentialKey) async throws(AccountError) {
        try await exclusively(key, within: .waitLimit) { access async throws(AccountError) in
            try await access.save(session)
        }
    }

    func remove(_ key: CredentialKey) async throws(AccountError) {
        try await exclusively(key, within: .waitLimit) { access async throws(AccountError) in
            try await access.remove()
        }
    }
}
