// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainKit

@testable import RainMaker
@testable import rainctl

extension GoldenResult {
    static let signIn: [GoldenResult] = [
        GoldenResult(
            SignedInResult(
                profile: "global", userName: "me@example.com", userID: "u1", store: "memory", account: "me@example.com",
                remark: " The session was not kept."),
            json: """
                {"profile":"global","signed_in":true,"user_name":"me@example.com","user_id":"u1","store":"memory",\
                "account":"me@example.com"}
                """,
            text: "Signed in as me@example.com (user id u1). The session was not kept."),
        GoldenResult(
            SignedInResult(profile: "global", userName: "me", userID: "u1", store: nil, account: nil, remark: ""),
            json: #"{"profile":"global","signed_in":true,"user_name":"me","user_id":"u1"}"#,
            text: "Signed in as me (user id u1)."),
        GoldenResult(
            SignInPendingResult(profile: "global", userName: "me", next: "rainctl login me --code-stdin"),
            json: """
                {"profile":"global","signed_in":false,"user_name":"me","next":"rainctl login me --code-stdin"}
                """,
            text: "A code was sent to me. Sign in with it: rainctl login me --code-stdin"),
        GoldenResult(
            SignedOutResult(profile: "global", revoked: true), json: #"{"profile":"global","revoked":true}"#,
            text: "Signed out."),
        GoldenResult(
            SignedOutResult(
                profile: "oidc",
                SignOutReport(
                    stillValid: [
                        .init(kind: .refresh, expires: nil, isCertain: false),
                        .init(kind: .access, expires: UnixTime(seconds: 0), isCertain: true),
                    ], page: "https://id.example/logout")),
            json: """
                {"profile":"oidc","revoked":false,"still_valid":[{"token":"refresh_token","certain":false},\
                {"token":"access_token","expires_at":"\(Timestamp.text(UnixTime(seconds: 0)))","certain":true}],\
                "sign_out_page":"https://id.example/logout"}
                """,
            text: "Signed out here."),
        GoldenResult(
            WhoamiResult(wholeUser, at: "oidc"),
            json: """
                {"profile":"oidc","user_name":"me\\u001b","user_id":"u1","name":"Ada","email":"a@example.com",\
                "phone_number":"+15550100","locale":"en","is_admin":false,\
                "attributes":{"sub":"s","groups":["a"],"is_admin":false}}
                """,
            text: """
                me\u{20}
                user id: u1
                profile: oidc
                name: Ada
                e-mail: a@example.com
                telephone: +15550100
                locale: en
                administrator: no
                """),
        GoldenResult(
            WhoamiResult(UserInfo(userID: UserID("u1"), userName: "me"), at: "oidc"),
            json: #"{"profile":"oidc","user_name":"me","user_id":"u1"}"#, text: "me\nuser id: u1\nprofile: oidc"),
        GoldenResult(
            WhoamiResult(guest, at: "global"),
            json: """
                {"profile":"global","user_name":"u2","user_id":"u2","picture_url":"https://a.example/p","second_step":true,\
                "administrator":"plain","roles":["owner"],"tags":["a:b"],"administrator_tags":["c:d"],"quota":{"nodes":5},\
                "guest":true,"guest_expires_at":"2027-01-15T08:00:00.000Z"}
                """,
            text: """
                u2
                user id: u2
                profile: global
                picture: https://a.example/p
                second step: on
                administrator: plain
                roles: owner
                tags: a:b
                administrator tags: c:d
                quota: {"nodes":5}
                guest until 2027-01-15T08:00:00.000Z
                """),
    ]

    /// With all that RainMaker's cloud has of a user and other providers have not.
    private static let guest = RainMakerUser([
        "user_id": "u2", "mfa": true, "admin": true, "picture_url": "https://a.example/p", "user_roles": ["owner"],
        "tags": ["a:b"], "admin_tags": ["c:d"], "quota": ["nodes": 5], "is_guest_user": true,
        "expires_on": 1_800_000_000,
    ])!

    private static var wholeUser: UserInfo {
        var user = UserInfo(userID: UserID("u1"), userName: "me\u{1B}")
        user.name = "Ada"
        user.email = "a@example.com"
        user.phoneNumber = "+15550100"
        user.locale = "en"
        user.usesSecondFactor = true
        user.attributes = [
            JSONValue.Member("sub", "s"), JSONValue.Member("groups", ["a"]), JSONValue.Member("is_admin", false),
        ]
        return user
    }
}
