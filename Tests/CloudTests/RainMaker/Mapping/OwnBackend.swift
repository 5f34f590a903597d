// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker

/// The user's own backend that plays a script. A user is signed in at another provider.
struct OwnBackend {
    static let text = """
        {"schemaVersion":1,"sendsProviderToken":true,
         "add":{"method":"PUT","url":"https://own.example/nodes/{node_id}/owner",
                "body":{"user":"{user_id}","pin":"{secret_key}","tags":"{tags}","about":{"data":"{metadata}"}},"request":"data.id"},
         "status":{"method":"GET","url":"https://own.example/requests?id={request_id}","state":"state",
                   "confirmed":["done","true"],"requested":["open"],"timedOut":["late"],"discarded":["no"]},
         "challenge":{"method":"POST","url":"https://own.example/challenges","body":{"user":"{user_id}","seconds":"{lifetime}"},
                      "request":"id","challenge":"text"},
         "verify":{"method":"POST","url":"https://own.example/challenges/{request_id}",
                   "body":{"node":"{node_id}","hex":"{signature}","all":["{tags}","by {user_id}: {signature}"]}}}
        """

    /// The same, with a session of the backend's own.
    static let signingIn = text.replacing(
        #""sendsProviderToken":true"#,
        with: #"""
            "signIn":{"method":"POST","url":"https://own.example/sessions","body":{"proof":"{code}","of":"{user_id}"},
                      "client":"backend-1","token":"data.token"},
            "signOut":{"method":"DELETE","url":"https://own.example/sessions/current"}
            """#)

    let http = ScriptedHTTPClient()
    let mapping: HTTPNodeMapping
    let store: InMemoryCredentialStore
    let key: CredentialKey

    init(
        _ text: String = Self.text, refresh: Bool = true, user: String = "user-1",
        codes: HTTPNodeMapping.CodeSource? = nil
    ) throws {
        key = try CredentialKey("sim")
        store = InMemoryCredentialStore([key: Self.saved(refresh: refresh, user: user)])
        mapping = try Self.mapping(text, over: http, store: store, user: user, codes: codes)
    }

    static func mapping(
        _ text: String = Self.text, over http: any HTTPClient, store: InMemoryCredentialStore? = nil,
        user: String = "user-1", codes: HTTPNodeMapping.CodeSource? = nil
    ) throws -> HTTPNodeMapping {
        let key = try CredentialKey("sim")
        let saved = store ?? InMemoryCredentialStore([key: saved(refresh: true, user: user)])
        let session = try AccountSession.rainMaker(
            try Deployment(name: "sim", base: "http://127.0.0.1:1"), http: http, store: saved, clock: ManualWallClock(),
            timer: ManualClock())
        return try HTTPNodeMapping(
            NodeMappingDescription(parsing: Array(text.utf8), origin: "own.json"), session: session,
            user: UserID(user), http: http, codes: codes)
    }

    private static func saved(refresh: Bool, user: String) -> SavedSession {
        SavedSession(
            provider: "rainmaker", userID: UserID(user), userName: "dev@example.com",
            tokens: Tokens(
                access: Secret("planted-access"), refresh: refresh ? Secret("planted-refresh") : nil,
                received: ManualWallClock().now))
    }

    /// The bodies that were sent.
    var bodies: [JSONValue?] { http.requests.map { try? JSONValue(parsing: $0.body) } }

    /// The proofs that were sent.
    var proofs: [String?] { http.requests.map { $0.headers.first { $0.name == "Authorization" }?.value } }
}
