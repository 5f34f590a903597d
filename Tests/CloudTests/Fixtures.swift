// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainHTTP
import RainJSON
import RainKitTesting
import Testing
import RainCore

/// Base64url without padding (RFC 4648, section 5).
func base64URL(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
        for index in 0...group.count { text.append(digits[bits >> (18 - 6 * index) & 63]) }
    }
    return text
}

/// A token with these claims. The name keeps tokens apart and can be searched for.
func token(_ name: String, _ claims: JSONValue) -> String {
    let header: JSONValue = ["alg": "RS256", "planted": .string(name)]
    return [header, claims].map { base64URL($0.serialized()) }.joined(separator: ".") + ".planted-\(name)"
}

/// An access token that was issued at `start` and lives for `life` seconds.
func accessToken(_ name: String, issued start: Double = 1_800_000_000, life: Double = 3600) -> String {
    token(name, ["iat": .number(start), "exp": .number(start + life)])
}

func tokens(_ name: String, received: Double = 1_800_000_000, life: Double = 3600) -> Tokens {
    Tokens(
        jsonWebToken: Secret(accessToken(name, issued: received, life: life)),
        refresh: Secret("planted-refresh-\(name)"),
        identity: nil, received: UnixTime(seconds: received))
}

func savedSession(_ name: String, received: Double = 1_800_000_000, life: Double = 3600) -> SavedSession {
    SavedSession(
        provider: "rainmaker", userID: UserID("user-1"), userName: "dev@example.com",
        tokens: tokens(name, received: received, life: life),
        context: ["base_url": "http://127.0.0.1:1", "claim_url": ""])
}

/// One account with everything that a test controls.
struct Bench {
    let http = ScriptedHTTPClient()
    let clock = ManualWallClock()
    let deployment: Deployment
    let key: CredentialKey
    let store: any CredentialStore
    let session: AccountSession
    let account: RainMakerAccount

    static let profile = #"{"user_id":"user-1","user_name":"dev@example.com","mfa":false,"name":"Dev"}"#

    init(_ saved: SavedSession? = nil, store: (any CredentialStore)? = nil) throws {
        deployment = try Deployment(name: "sim", base: "http://127.0.0.1:1")
        let key = try CredentialKey("sim")
        self.key = key
        self.store = store ?? InMemoryCredentialStore(saved.map { [key: $0] } ?? [:])
        session = try AccountSession.rainMaker(
            deployment, http: http, store: self.store, clock: clock, timer: ManualClock())
        account = RainMakerAccount(deployment, session: session, http: http)
    }

    func stored() async throws -> SavedSession? { try await store.load(key) }

    func expectRenewal(to name: String) {
        http.expect(.post, "/v1/login2", renewal(name))
    }

    func renewal(_ name: String) -> String {
        let access = accessToken(name, issued: clock.now.seconds)
        return #"{"status":"success","description":"x","idtoken":"id-\#(name)","accesstoken":"\#(access)"}"#
    }

    /// A request of the user.
    var request: HTTPRequest { HTTPRequest(method: .get, url: deployment.base.text + "/v1/user/nodes") }
}
