// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainAccount
import RainJSON
import RainKit
import TestSupport
import RainCore

/// A maker who signed in some time ago, as the session's file tells; nobody was asked for it.
struct StoredSession {
    let maker: Maker
    let store: FileCredentialStore
    let key: CredentialKey
    let base: String

    /// - Parameter expiresIn: when the access token expires, in seconds from now; it lived an hour.
    init(in folder: TemporaryFolder, at server: FaultyServer, expiresIn seconds: Double) async throws {
        maker = try Maker(folder)
        store = FileCredentialStore(folder: folder.file("state/rainkit/sessions"))
        key = try CredentialKey("sim")
        base = server.base
        let authorities = server.authorities.map { ["--ca-file", $0] } ?? []
        for arguments in [
            ["profile", "add", "sim", "--base-url", server.base] + authorities, ["profile", "use", "sim"],
        ] {
            let outcome = try await maker.rainctl(arguments)
            guard outcome.status == 0 else { throw ProcessError(outcome.standardError) }
        }
        let end = SystemWallClock().now + seconds
        try await save(
            SavedSession(
                provider: "rainmaker", userID: UserID("user-1"), userName: "maker@example.com",
                tokens: Tokens(
                    access: Secret("planted-access-token"), refresh: Secret("planted-refresh-token"),
                    identity: Secret("planted-id-token"), received: end + -3600, expires: end),
                context: ["base_url": try Deployment(name: "sim", base: base).base.text, "claim_url": ""]))
    }

    func save(_ session: SavedSession) async throws(AccountError) {
        try await store.exclusively(key, within: .waitLimit) { access async throws(AccountError) in
            try await access.save(session)
        }
    }

    var session: SavedSession? { get throws { try store.load(key) } }

    /// The bytes of every file of the state, by its path: locks and all.
    func files() throws -> [String: Data] {
        let state = maker.folder.file("state")
        var files: [String: Data] = [:]
        for path in try SecretHunt.entries(below: state)
        where try SecretHunt.type(of: "\(state)/\(path)") == .typeRegular {
            files[path] = try Data(contentsOf: URL(fileURLWithPath: "\(state)/\(path)"))
        }
        return files
    }

    /// An `Account` of the SDK at the same store.
    func account(_ http: any HTTPClient) throws -> AccountSession {
        try AccountSession.rainMaker(
            Deployment(name: "sim", base: base), http: http, store: store)
    }
}
