// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
@testable import RainKit

@testable import RainMaker
@testable import rainctl

extension ExampleResults {
    static let signIn: [any CommandResult] = [
        SignedInResult(
            profile: "global", userName: "me@example.com", userID: "u1", store: "memory", account: "me@example.com",
            remark: " The session was not stored."),
        SignedInResult(profile: "global", userName: "me", userID: "u1", store: nil, account: nil, remark: ""),
        SignInPendingResult(profile: "global", userName: "me", next: "rainctl login me --code-stdin"),
        SignedOutResult(profile: "global", revoked: true),
        SignedOutResult(profile: "global", revoked: true, accountInUse: "other@example.com"),
        SignedOutResult(
            profile: "oidc",
            SignOutReport(
                stillValid: [
                    .init(kind: .refresh, expires: nil, isCertain: false),
                    .init(kind: .access, expires: UnixTime(seconds: 0), isCertain: true),
                ], page: "https://id.example/logout")),
        WhoamiResult(wholeUser, at: "oidc"),
        WhoamiResult(UserInfo(userID: UserID("u1"), userName: "me"), at: "oidc"),
        WhoamiResult(guest, at: "global"),
        WhoamiResult(superAdministrator, at: "global"),
    ]

    /// A user with every member that only RainMaker's cloud has.
    private static let guest = RainMakerUser([
        "user_id": "u2", "mfa": true, "admin": true, "picture_url": "https://a.example/p", "user_roles": ["owner"],
        "tags": ["a:b"], "admin_tags": ["c:d"], "quota": ["nodes": 5], "is_guest_user": true,
        "expires_on": 1_800_000_000,
    ])!

    private static let superAdministrator = RainMakerUser([
        "user_id": "u3", "user_name": "me", "mfa": false, "super_admin": true,
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
