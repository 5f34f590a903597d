// SPDX-License-Identifier: Apache-2.0
import RainCore

@testable import rainctl

extension GoldenResult {
    /// What takes a session, or a piece of it, from one program to another.
    static let accountHandovers: [GoldenResult] = [
        GoldenResult(
            WebSessionEndResult(profile: "spid", url: "https://login.example/logout?client_id=1"),
            json: #"{"profile":"spid","url":"https://login.example/logout?client_id=1"}"#,
            text: "https://login.example/logout?client_id=1"),
        GoldenResult(
            AccountUseResult(profile: "p", account: "me"), json: #"{"profile":"p","account":"me"}"#,
            text: "Using me at p."),
        GoldenResult(
            ImportResult(
                profile: "p", baseURL: "https://a.example/", userName: "me", userID: "u1", store: "file", account: "me",
                isCurrent: false),
            json: """
                {"profile":"p","base_url":"https://a.example/","user_name":"me","user_id":"u1","store":"file",\
                "account":"me"}
                """,
            text: "The session of me at p is rainctl's too. To use it: rainctl profile use p"),
        GoldenResult(
            ImportResult(
                profile: "p", baseURL: "https://a.example/", userName: "me", userID: "u1", store: "memory",
                account: nil,
                isCurrent: true),
            json: """
                {"profile":"p","base_url":"https://a.example/","user_name":"me","user_id":"u1","store":"memory"}
                """,
            text: "The session of me at p is rainctl's too."),
        GoldenResult(
            ExportResult(profile: "p", userName: "me", path: "/x"),
            json: #"{"profile":"p","user_name":"me","path":"/x"}"#,
            text: "The session of me at p is in /x. Whoever can read it is signed in."),
        GoldenResult(
            ExchangeResult(profile: "spid", type: "code", forClient: "c", code: Secret("1234"), expiresIn: 30),
            json: #"{"profile":"spid","type":"code","for_client":"c","code":"1234","expires_in":30.0}"#, text: "1234"),
        GoldenResult(
            WebSessionResult(profile: "spid", url: Secret("https://s.example/session/1")),
            json: #"{"profile":"spid","url":"https://s.example/session/1","expires_in":60}"#,
            text: "https://s.example/session/1"),
        GoldenResult(
            WebSessionOpenedResult(profile: "spid"), json: #"{"profile":"spid","opened":true}"#, text: ""),
        GoldenResult(CallbackResult(), json: #"{"taken":true}"#, text: ""),
        GoldenResult(
            CustomDataChangeResult(change: .kept, profile: "p", key: "k"), json: #"{"profile":"p","key":"k"}"#,
            text: "Kept under k."),
        GoldenResult(
            CustomDataChangeResult(change: .removed, profile: "p", key: "k"), json: #"{"profile":"p","key":"k"}"#,
            text: "Removed k."),
    ]

    static let errors: [GoldenResult] = [
        GoldenResult(
            ErrorResult(wholeFailure),
            json: """
                {"error":{"code":"temporary","exit":75,"reason":"rate_limited","message":"Not\u{20}now.",\
                "step":"verify","retry_after":2}}
                """,
            text: "error: Not now."),
        GoldenResult(
            ErrorResult(CommandFailure(.usage, message: "No.")),
            json: #"{"error":{"code":"usage","exit":64,"reason":"usage","message":"No."}}"#, text: "error: No."),
    ]

    private static var wholeFailure: CommandFailure {
        var failure = CommandFailure(.temporary, reason: "rate_limited", message: "Not\u{1B}now.", step: "verify")
        failure.retryAfter = .milliseconds(1001)
        return failure
    }
}
