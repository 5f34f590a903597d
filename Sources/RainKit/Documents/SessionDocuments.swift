// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker

// The documents of sign-ins, sessions and their users.

/// A stored session as users and scripts see it, without secrets.
package struct SessionResult: Encodable, Sendable {
    package let profile: String
    package let baseURL: String
    package let provider: String
    package let userName: String
    package let userID: String
    package let store: String
    package let account: String?
    package let storePath: String?
    package let receivedAt: String
    package let expiresAt: String?
    /// Whole seconds, rounded down.
    package let expiresIn: Int64?
    package let expired: Bool
    package let renewable: Bool
    /// When the refresh token ends, if the provider reports that.
    package let refreshExpiresAt: String?
    /// Whole seconds, rounded down.
    package let refreshExpiresIn: Int64?
}

extension SessionResult {
    package init(_ session: AccountAccess, _ status: SessionStatus, now: UnixTime = SystemWallClock().now) {
        self.init(
            profile: session.name, baseURL: session.base, provider: status.provider, userName: status.userName,
            userID: status.userID.rawValue, store: session.place.kind.rawValue, account: session.place.account,
            storePath: session.place.path, receivedAt: Timestamp.text(status.received),
            expiresAt: status.expires.map { Timestamp.text($0) },
            expiresIn: status.expires.map { Self.seconds(from: now, to: $0) },
            expired: status.hasExpired, renewable: status.isRenewable,
            refreshExpiresAt: status.refreshExpires.map { Timestamp.text($0) },
            refreshExpiresIn: status.refreshExpires.map { Self.seconds(from: now, to: $0) })
    }

    private static func seconds(from now: UnixTime, to end: UnixTime) -> Int64 {
        Int64(min(max(end.seconds - now.seconds, -1e15), 1e15).rounded(.down))
    }
}

/// The signed-in user. Missing values appear in neither form.
package struct WhoamiResult: Encodable, Sendable {
    private var values = LabelledValues()

    package var text: String { values.text }

    package func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    /// A user of any provider, with everything that the provider reports about them.
    package init(_ user: UserInfo, at profile: String) {
        addCommon(user, profile)
        if let isOne = user.attributes.first(where: { $0.name == "is_admin" })?.value.bool {
            values.add("is_admin", isOne, line: "administrator: \(isOne ? "yes" : "no")")
        }
        if !user.attributes.isEmpty { values.add(memberOnly: "attributes", JSONValue.object(user.attributes)) }
    }

    package init(_ user: RainMakerUser, at profile: String) {
        addCommon(user.common, profile)
        values.add("picture_url", label: "picture", user.pictureURL)
        if let isOn = user.common.usesSecondFactor {
            values.add("second_step", isOn, line: "two-step sign-in: \(isOn ? "on" : "off")")
        }
        if user.isSuperAdministrator || user.isAdministrator {
            values.add("administrator", user.isSuperAdministrator ? "super" : "plain")
        }
        values.add("roles", user.roles)
        values.add("tags", user.tags)
        values.add("administrator_tags", user.administratorTags)
        if let quota = user.quota {
            values.add("quota", quota, line: "quota: \(quota.compact.onOneLine)")
        }
        if user.isGuest {
            let end = user.guestExpires.map(Timestamp.text)
            values.add("guest", true, line: "guest\(end.map { " until \($0)" } ?? "")")
            if let end { values.add(memberOnly: "guest_expires_at", end) }
        }
    }

    private mutating func addCommon(_ user: UserInfo, _ profile: String) {
        values.add(memberOnly: "profile", profile)
        values.add("user_name", user.userName, line: user.userName.onOneLine)
        values.add("user_id", user.userID.rawValue)
        values.add(line: "profile: \(profile)")
        values.add("name", user.name)
        values.add("email", label: "e-mail", user.email)
        values.add("phone_number", label: "telephone", user.phoneNumber)
        values.add("locale", user.locale)
    }
}

/// The signed-in user, and the place of the session.
package struct SignedInResult: Encodable, Sendable {
    package let profile: String
    package let signedIn = true
    package let userName: String
    package let userID: String
    package let store: String?
    package let account: String?
    /// A remark for users who might expect to stay signed in.
    @TextOnly package var remark: String
}

extension SignedInResult {
    package init(_ user: UserInfo, _ session: AccountAccess) {
        self.init(
            profile: session.name, userName: user.userName, userID: user.userID.rawValue,
            store: session.newSession?.storeName, account: session.newSession?.accountName,
            remark: session.newSession?.remark ?? "")
    }
}

extension NewAccountStore {
    /// The kind of store that the session is in.
    package var storeName: String { (account?.kind ?? kind).rawValue }

    /// The account's name in the store.
    package var accountName: String? { account?.key.account }

    /// A remark for users who might expect to stay signed in.
    fileprivate var remark: String { account?.kind == .memory ? " The session was not stored." : "" }
}

/// The end of a session here, and at its provider if that could be reached.
package struct SignedOutResult: Encodable, Sendable {
    /// A token that the provider may still accept.
    package struct Token: Encodable, Sendable {
        package let token: String
        package let expiresAt: String?
        /// Whether the token is known to be valid.
        package let certain: Bool
    }

    package let profile: String
    package let revoked: Bool
    /// Absent if the provider ended everything, or could not be reached.
    package var stillValid: [Token]?
    /// The provider's own page for signing out.
    package var signOutPage: String?
    /// The account that commands use now. Absent if they use none, or the same one as before.
    package var accountInUse: String?
}

extension SignedOutResult {
    package init(profile: String, revoked: Bool) {
        self.init(profile: profile, revoked: revoked, stillValid: nil)
    }

    package init(profile: String, _ report: SignOutReport) {
        self.init(
            profile: profile, revoked: false,
            stillValid: report.stillValid.map {
                Token(token: $0.kind.rawValue, expiresAt: $0.expires.map { Timestamp.text($0) }, certain: $0.isCertain)
            }, signOutPage: report.page)
    }

    /// A warning about what remains at the provider, for users.
    package func warning(of provider: String) -> String {
        let tokens = (stillValid ?? []).map { token in
            let name = token.token.replacing("_", with: " ")
            return "the \(name) (\(token.expiresAt.map { "until \($0)" } ?? "its expiry time is not known"))"
        }.joined(separator: " and ")
        let isCertain = (stillValid ?? []).contains { $0.certain }
        let rest =
            isCertain
            ? "\(provider) cannot revoke the tokens, and still accepts \(tokens)"
            : "\(provider) was asked to end the session, but does not report whether it still accepts \(tokens)"
        let page = signOutPage.map { "; to sign out in the browser too, open \($0)" } ?? ""
        return "signed out here, but \(rest)\(page)"
    }
}
