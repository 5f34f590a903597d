// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainCore

extension RainMakerIdentity {
    public func user(_ tokens: Tokens) async throws(AccountError) -> UserInfo {
        let reply = try await call(RainMakerCall(.get, "user2"), with: tokens)
        guard let user = UserInfo(rainMaker: reply) else { throw service.incomplete("user_id") }
        return user
    }

    public func user(claimedBy tokens: Tokens) -> UserInfo? { Self.user(claimedBy: tokens) }

    static func user(claimedBy tokens: Tokens) -> UserInfo? {
        guard let claims = tokens.identity.flatMap(JSONWebToken.claims),
            let userID = claims["custom:user_id"]?.string, !userID.isEmpty
        else { return nil }
        let email = claims["email"]?.string
        let phoneNumber = claims["phone_number"]?.string
        var user = UserInfo(userID: UserID(userID), userName: email ?? phoneNumber ?? userID)
        user.email = email
        user.phoneNumber = phoneNumber
        return user
    }
}

extension UserInfo {
    /// What `user2` answers; nil without a user id.
    init?(rainMaker reply: JSONValue) {
        guard let userID = reply["user_id"]?.string, !userID.isEmpty else { return nil }
        self.init(userID: UserID(userID), userName: reply["user_name"]?.string ?? reply["email"]?.string ?? userID)
        name = reply["name"]?.string
        email = reply["email"]?.string
        phoneNumber = reply["phone_number"]?.string
        locale = reply["locale"]?.string
        usesSecondFactor = reply["mfa"]?.bool
    }
}
