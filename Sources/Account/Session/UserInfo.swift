// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainCore

/// Whom the service knows the signed-in user to be.
public struct UserInfo: Sendable, Equatable {
    /// What boards are told to map themselves to.
    public var userID: UserID
    /// What the user signs in with: an e-mail address or a telephone number.
    public var userName: String
    /// The name for people; like all below, nil where the provider does not say.
    public var name: String?
    /// The e-mail address. It may be unconfirmed.
    public var email: String?
    /// The telephone number, from RainMaker with `+` and country code. It may be unconfirmed.
    public var phoneNumber: String?
    /// The language in which the provider writes to the user, such as `en-us`.
    public var locale: String?
    /// Whether signing in takes a one-time code after the password.
    public var usesSecondFactor: Bool?
    /// Everything that the provider says about the user, in its own words and order. It is stored with the session, to be read offline.
    public var attributes: [JSONValue.Member] = []

    public init(userID: UserID, userName: String) {
        self.userID = userID
        self.userName = userName
    }
}
