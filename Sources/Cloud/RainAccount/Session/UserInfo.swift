// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainCore

/// Whom the service knows the signed-in user to be.
public struct UserInfo: Sendable, Equatable {
    /// What boards are told to map themselves to.
    public var userID: UserID
    /// What the user signs in with: an e-mail address or a telephone number.
    public var userName: String
    public var name: String?
    public var email: String?
    public var phoneNumber: String?
    public var locale: String?
    public var usesSecondFactor: Bool?
    /// Everything that the provider says about the user, in its own words and order. It is stored with the session, to be read offline.
    public var attributes: [JSONValue.Member] = []

    public init(userID: UserID, userName: String) {
        self.userID = userID
        self.userName = userName
    }
}
