// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

@testable import rainctl

extension GoldenResult {
    /// What is only shown.
    static let accountLists: [GoldenResult] = [
        GoldenResult(
            SessionResult(
                profile: "p", baseURL: "https://a.example/", provider: "rainmaker", userName: "me", userID: "u1",
                store: "file", account: "me", storePath: "/s", receivedAt: "R", expiresAt: "E", expiresIn: -5,
                expired: true, renewable: false),
            json: """
                {"profile":"p","base_url":"https://a.example/","provider":"rainmaker","user_name":"me","user_id":"u1",\
                "store":"file","account":"me","store_path":"/s","received_at":"R","expires_at":"E","expires_in":-5,\
                "expired":true,"renewable":false}
                """,
            text: """
                me
                user id: u1
                profile: p (https://a.example/)
                store: file, /s
                access token: expired since E; cannot be renewed: sign in again then
                """),
        GoldenResult(
            bareSession,
            json: """
                {"profile":"p","base_url":"","provider":"oidc","user_name":"me","user_id":"u1","store":"memory",\
                "received_at":"R","expired":false,"renewable":true}
                """,
            text: """
                me
                user id: u1
                profile: p ()
                store: memory
                access token: without a stated end; renewed when needed
                """),
        GoldenResult(
            RenewalResult(session: bareSession),
            json: """
                {"profile":"p","base_url":"","provider":"oidc","user_name":"me","user_id":"u1","store":"memory",\
                "received_at":"R","expired":false,"renewable":true}
                """,
            text: "Renewed: the access token is good without a stated end."),
        GoldenResult(
            AccountListResult(accounts: accounts, showsProfile: false), json: accountsJSON,
            text: "* me  me@example.com  (file)\n  you  (secret-service)"),
        GoldenResult(
            AccountListResult(accounts: accounts, showsProfile: true), json: accountsJSON,
            text: "* p  me  me@example.com  (file)\n  q  you  (secret-service)"),
        GoldenResult(AccountListResult(accounts: [], showsProfile: false), json: #"{"accounts":[]}"#, text: ""),
        GoldenResult(
            VersionsResult(
                profile: "p",
                versions: [
                    .init(version: "v1", used: true, build: "b7", releaseNotes: "n"),
                    .init(version: "v2", used: false, build: nil, releaseNotes: nil),
                ]),
            json: """
                {"profile":"p","versions":[{"version":"v1","used":true,"build":"b7","release_notes":"n"},\
                {"version":"v2","used":false}]}
                """,
            text: "* v1  b7\n  v2"),
        GoldenResult(
            CustomDataResult(data: ["theme": ["dark": true], "empty": nil]),
            json: #"{"data":{"theme":{"dark":true},"empty":null}}"#,
            text: "{\n  \"theme\": {\n    \"dark\": true\n  },\n  \"empty\": null\n}"),
        GoldenResult(
            CustomDataValueResult(.init(key: "k", value: "hi \u{9B}")), json: #"{"key":"k","value":"hi \u009b"}"#,
            text: #""hi \u009b""#),
        GoldenResult(
            CustomDataValueResult(.init(key: "k", value: nil)), json: #"{"key":"k","value":null}"#, text: "null"),
        GoldenResult(
            ProviderListResult([(provider, true)], inDetail: true),
            json: providersJSON,
            text: """
                acme  Acme
                \(capabilities { $0 == .password ? "  \($0.rawValue): yes" : "  \($0.rawValue): no. \(whyNot($0))." })
                  --mode password: password (usual)
                  --secret-file pin=FILE: The pin
                  --set tenant=… (required): Whose
                  --set region=…
                  console: https://c.example
                  docs: https://d.example
                  forgot: https://f.example
                  help: https://h.example
                  privacy: https://p.example
                  register: https://r.example
                  terms: https://t.example
                """),
        GoldenResult(
            ProviderListResult([(provider, true)], inDetail: false), json: providersJSON, text: "acme  Acme: password"),
        GoldenResult(ProviderListResult([], inDetail: false), json: #"{"providers":[]}"#, text: ""),
    ]

    private static let bareSession = SessionResult(
        profile: "p", baseURL: "", provider: "oidc", userName: "me", userID: "u1", store: "memory", account: nil,
        storePath: nil, receivedAt: "R", expiresAt: nil, expiresIn: nil, expired: false, renewable: true)

    private static let accounts: [AccountListResult.Entry] = [
        .init(profile: "p", account: "me", userName: "me@example.com", userID: "u1", store: "file", current: true),
        .init(profile: "q", account: "you", userName: "you", userID: "u2", store: "secret-service", current: false),
    ]

    private static let accountsJSON = """
        {"accounts":[{"profile":"p","account":"me","user_name":"me@example.com","user_id":"u1","store":"file",\
        "current":true},{"profile":"q","account":"you","user_name":"you","user_id":"u2","store":"secret-service",\
        "current":false}]}
        """

    private static let provider: ProviderDefinition = {
        let text = #"""
            {"schemaVersion":1,"id":"acme","title":"Acme","environments":{"test":"https://t.example","live":"https://l.example"},
            "defaultEnvironment":"live","grants":{"password":{"grantType":"password"}},"modes":["password"],
            "endpoints":{"token":"https://l.example/token"},
            "parameters":[{"name":"tenant","description":"Whose","required":true},{"name":"region"}],
            "secrets":[{"name":"pin","description":"The pin"}],
            "links":{"docs":"https://d.example","console":"https://c.example","terms":"https://t.example",
            "privacy":"https://p.example","help":"https://h.example","forgot":"https://f.example","register":"https://r.example"}}
            """#
        do {
            return try ProviderDefinition(parsing: Array(text.utf8), origin: "the test")
        } catch {
            fatalError("\(error)")
        }
    }()

    private static func whyNot(_ grant: GrantName) -> String { "Acme does not offer it" }

    private static func capabilities(_ each: (GrantName) -> String, between: String = "\n") -> String {
        provider.capabilities.map { each($0.grant) }.joined(separator: between)
    }

    private static let grantsJSON = capabilities(
        { grant in
            #"{"grant":"\#(grant.rawValue)","available":"#
                + (grant == .password ? "true}" : #"false,"why_not":"\#(whyNot(grant))"}"#)
        }, between: ",")

    private static let providersJSON = """
        {"providers":[{"name":"acme","title":"Acme","built_in":true,"capabilities":[\(grantsJSON)],\
        "parameters":[{"name":"tenant","required":true,"description":"Whose"},\
        {"name":"region","required":false,"description":null}],"modes":["password"],"environments":["live","test"],\
        "links":{"console":"https://c.example","docs":"https://d.example","forgot":"https://f.example",\
        "help":"https://h.example","privacy":"https://p.example","register":"https://r.example","terms":"https://t.example"}}]}
        """
}
