// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainHTTPCurl
import RainJSON
import RainKit
import TestSupport
import Testing
import RainCore

/// A signed-in maker on a machine where many programs use the one session, with the cloud that it belongs to.
struct Gateway {
    let maker: Maker
    let cloud: SimulatedCloud
    let kept: AccountDirectory.KeptAccount
    private let http = CurlHTTPClient()

    /// - Parameter options: of `cloud-sim`, which replaces each refresh token as it is used, and ends the session of who uses one twice.
    init(in folder: TemporaryFolder, options: [String] = []) async throws {
        maker = try Maker(folder)
        cloud = try await SimulatedCloud.start(arguments: ["--rotate-refresh"] + options, in: folder)
        try await maker.signIn(to: cloud)
        kept = try AccountDirectory(folder: folder.file("state/rainkit"), environment: [:]).account(at: "sim")
    }

    /// The lock file of the session.
    var lock: String { maker.folder.file("state/rainkit/sessions/\(kept.key.name).lock") }

    /// The access token is refused from now on, and everybody here knows that it is too old.
    func expire() async throws {
        try await control("expire", ["user": .string(SimulatedCloud.user)])
        let past = SystemWallClock().now + -1
        try await kept.store.exclusively(kept.key, within: .waitLimit) { access async throws(AccountError) in
            guard var session = try await access.load() else { return }
            session.tokens.received = past + -10
            session.tokens.expires = past
            try await access.save(session)
        }
    }

    func control(_ what: String, _ body: JSONValue) async throws { try await cloud.control(what, body) }

    /// Whether the cloud's API takes the token.
    func accepts(_ token: String) async throws -> Bool {
        let request = HTTPRequest(
            method: .get, url: "\(cloud.api)/v1/user2", headers: [HTTPHeader("Authorization", token)])
        return try await http.send(request).status == 200
    }

    /// The result of each refresh token that was presented, in order.
    func refreshes() throws -> [String] {
        try cloud.journal.entries(where: ["event": "refresh"]).compactMap { $0["outcome"]?.string }
    }

    /// The session as the store has it. Throws if it cannot be read.
    func session() async throws -> SavedSession? { try await kept.store.load(kept.key) }

    func account() throws -> AccountSession {
        try AccountSession.rainMaker(
            Deployment(name: "sim", base: cloud.api), http: http, store: kept.store, account: kept.key.account)
    }

    /// Whether these are the rounds of `make soak`.
    static let isSoak = currentEnvironment()["RAINKIT_SOAK"] == "1"
}
