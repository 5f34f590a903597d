// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
@testable import RainKit

@testable import rainctl

extension ExampleResults {
    /// Steps that one command completes, or that wait for a code.
    static let accountSteps: [any CommandResult] = [
        ConfirmationResult(profile: "p", userName: "me", isConfirmed: true),
        ConfirmationResult(profile: "p", userName: "me", isConfirmed: false),
        CodeResentResult(profile: "p", userName: "me"),
        AccountUpdateResult(profile: "p", userName: "me", phone: .unchanged),
        AccountUpdateResult(profile: "p", userName: "me", phone: .confirmed),
        AccountUpdateResult(profile: "p", userName: "me", phone: .codeSent(to: "+1555")),
        PasswordChangedResult(profile: "p", userName: "me"),
        PasswordResetResult(profile: "p", userName: "me", isReset: true),
        PasswordResetResult(profile: "p", userName: "me", isReset: false),
        ConversionResult(profile: "p", converted: UserInfo(userID: UserID("u1"), userName: "me")),
        ConversionResult(profile: "p", pending: "me"),
        DeletionResult(profile: "p", userName: "me", isDeleted: true),
        DeletionResult(profile: "p", userName: "me", isDeleted: true, accountInUse: "other@example.com"),
        DeletionResult(profile: "p", userName: "me", isDeleted: false),
    ]

    /// Lists and values that are only shown.
    static let accountLists: [any CommandResult] = [
        wholeSession,
        bareSession,
        RenewalResult(session: bareSession),
        RenewalResult(session: wholeSession),
        AccountListResult(accounts: accounts, showsProfile: false),
        AccountListResult(accounts: accounts, showsProfile: true),
        AccountListResult(accounts: [], showsProfile: false),
        VersionsResult(
            profile: "p",
            versions: [
                .init(version: "v1", used: true, build: "b7", releaseNotes: "n"),
                .init(version: "v2", used: false, build: nil, releaseNotes: nil),
            ]),
        CustomDataResult(data: ["theme": ["dark": true], "empty": nil]),
        CustomDataValueResult(.init(key: "k", value: "hi \u{9B}")),
        CustomDataValueResult(.init(key: "k", value: nil)),
        PublicProfileResult(userName: "me", profile: ["name": "Ada \u{9B}"]),
        PublicProfileResult(userName: nil, profile: [:]),
        PublicProfileResult(userName: nil, profile: ["name": "Ada"], isChange: true),
        DataRequestResult(requestID: "R1", ready: false, url: nil),
        DataRequestResult(requestID: "R1", ready: true, url: "https://a.example/data?signature=1"),
        ProviderListResult([(provider, true)], links: [provider.links ?? [:]], inDetail: true),
        ProviderListResult([(provider, true)], links: [provider.links ?? [:]], inDetail: false),
        ProviderListResult([], links: [], inDetail: false),
    ]

    private static let wholeSession = SessionResult(
        profile: "p", baseURL: "https://a.example/", provider: "rainmaker", userName: "me", userID: "u1",
        store: "file", account: "me", storePath: "/s", receivedAt: "R", expiresAt: "E", expiresIn: -5,
        expired: true, renewable: false, refreshExpiresAt: "F", refreshExpiresIn: 5)

    private static let bareSession = SessionResult(
        profile: "p", baseURL: "", provider: "oidc", userName: "me", userID: "u1", store: "memory", account: nil,
        storePath: nil, receivedAt: "R", expiresAt: nil, expiresIn: nil, expired: false, renewable: true,
        refreshExpiresAt: nil, refreshExpiresIn: nil)

    private static let accounts: [AccountListResult.Entry] = [
        .init(profile: "p", account: "me", userName: "me@example.com", userID: "u1", store: "file", current: true),
        .init(profile: "q", account: "you", userName: "you", userID: "u2", store: "secret-service", current: false),
    ]

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

    /// Sessions, or parts of one, that another program receives; and values that the user keeps in the account.
    static let accountHandovers: [any CommandResult] = [
        WebSessionEndResult(profile: "spid", url: "https://login.example/logout?client_id=1"),
        AccountUseResult(profile: "p", account: "me"),
        ImportResult(
            profile: "p", baseURL: "https://a.example/", userName: "me", userID: "u1", store: "file", account: "me",
            isCurrent: false),
        ImportResult(
            profile: "p", baseURL: "https://a.example/", userName: "me", userID: "u1", store: "memory",
            account: nil,
            isCurrent: true),
        ExportResult(profile: "p", userName: "me", path: "/x"),
        ExchangeResult(profile: "spid", type: "code", forClient: "c", code: Secret("1234"), expiresIn: 30),
        WebSessionResult(profile: "spid", url: Secret("https://s.example/session/1")),
        WebSessionOpenedResult(profile: "spid"),
        CallbackResult(),
        CustomDataChangeResult(change: .kept, profile: "p", key: "k"),
        CustomDataChangeResult(change: .removed, profile: "p", key: "k"),
    ]
}
