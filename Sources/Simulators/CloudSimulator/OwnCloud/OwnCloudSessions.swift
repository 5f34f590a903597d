// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization

/// The users whom the simulated backend has registered, and the tokens that it gave them. A value without a clock.
struct OwnCloudSessions: Sendable {
    /// How long a token is good, in seconds.
    static let lifetime: Int64 = 3600
    static let maximumUsers = 1000

    private var tokens = ExpiringTable<OwnCloudCaller>(maximum: 1000)
    /// The ids of the registered users, by provider.
    private var users: Set<String> = []

    /// Registers the user and issues a token. Nil where there are too many users.
    mutating func begin(_ caller: OwnCloudCaller, at now: Int64) -> (token: String, isNew: Bool)? {
        let user = "\(caller.system.rawValue):\(caller.user.id)"
        let isNew = !users.contains(user)
        guard !isNew || users.count < Self.maximumUsers else { return nil }
        users.insert(user)
        let token = opaqueToken()
        tokens.insert(caller, key: token, until: now + Self.lifetime * 1000, at: now)
        return (token, isNew)
    }

    func session(of token: String, at now: Int64) -> OwnCloudCaller? { tokens.value(token, at: now) }

    mutating func end(_ token: String) { tokens.remove(token) }
}

extension OwnCloudAPI {
    /// The client of the backend at SPiD, which redeems codes that apps asked for on its behalf.
    static let spidClient = "backend-1"

    /// `POST /sessions {"code"}`: redeems the code at SPiD, as a backend does it, and answers the backend's own token.
    func signIn(_ call: OwnCloudCall, _ user: inout String?) throws(OwnCloudFailure) -> Response {
        let code = try OwnCloudCall.text("code", of: try call.body())
        guard let spid = systems.first(where: { $0.system == .spid }),
            let client = SPiDClient.known.first(where: { $0.id == Self.spidClient })
        else { throw .notFound }
        let form = [
            ("grant_type", "authorization_code"), ("client_id", client.id),
            ("client_secret", "\(client.id)-secret"), ("redirect_uri", client.defaultRedirect ?? ""),
            ("code", code),
        ].map { "\($0)=\(percentEncoded($1))" }.joined(separator: "&")
        let redeemed = spid.respond(
            to: Request(
                method: "POST", target: "/oauth/token",
                headers: [.init("Content-Type", "application/x-www-form-urlencoded")], body: Array(form.utf8)))
        guard redeemed.status < 500 else { throw OwnCloudFailure(503, "server_error", "SPiD does not answer") }
        guard let token = redeemed.body["access_token"]?.string, let id = redeemed.body["user_id"]?.string else {
            throw OwnCloudFailure(400, "invalid_grant", "SPiD did not accept the code")
        }
        // Asks who it is in its own name, with its own token.
        let profile = spid.respond(
            to: Request(
                method: "GET", target: "/api/2/user/\(id)", headers: [.init("Authorization", "Bearer \(token)")]))
        guard profile.status == 200, let known = spid.user(ofAccessToken: token) else {
            throw OwnCloudFailure(503, "server_error", "SPiD does not say who the user is")
        }
        user = known.email
        let (caller, now) = (OwnCloudCaller(user: known, system: .spid), now)
        guard let session = sessions.withLock({ $0.begin(caller, at: now) }) else {
            throw OwnCloudFailure(409, "too_many_users", "There are too many users")
        }
        if session.isNew { journal.backendSession(caller, "registered") }
        journal.backendSession(caller, "signed_in")
        return Response([
            "token": .string(session.token), "expires_in": .integer(OwnCloudSessions.lifetime),
            "user_id": .string(known.id),
        ])
    }

    /// `DELETE /sessions/current`: the token is good for nothing afterwards.
    func signOut(_ call: OwnCloudCall, _ caller: OwnCloudCaller) throws(OwnCloudFailure) -> Response {
        let token = try call.token()
        sessions.withLock { $0.end(token) }
        journal.backendSession(caller, "signed_out")
        return Response([:])
    }
}
