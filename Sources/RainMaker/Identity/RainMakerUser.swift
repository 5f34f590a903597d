// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON
import RainCore

/// Everything that the RainMaker cloud says about a user. What is not set is nil or empty.
public struct RainMakerUser: Sendable, Equatable {
    /// What other providers have too: id, names, addresses.
    public var common: UserInfo
    /// Where the user's picture is (`picture_url`), unchecked; it is never fetched here.
    public var pictureURL: String?
    /// Whether the user is one of the deployment's administrators (`admin`); false if nothing is said. Nothing here is decided by it.
    public var isAdministrator: Bool
    /// Whether the user is one of its super administrators (`super_admin`); false if nothing is said. Nothing here is decided by it.
    public var isSuperAdministrator: Bool
    /// The user's roles, in the deployment's own terms (`user_roles`).
    public var roles: [String]
    /// `key:value`, set by the user.
    public var tags: [String]
    /// `key:value`, set by the deployment's administrators.
    public var administratorTags: [String]
    /// How much of what the user may have, in the deployment's own terms.
    public var quota: JSONValue?
    /// Values that applications keep with the account; nil unless they were asked for.
    public var customData: RainMakerCustomData?
    /// Whether the account is a guest's: without a name and a password, and good until ``guestExpires``.
    public var isGuest: Bool
    /// When a guest's account ends.
    public var guestExpires: UnixTime?

    /// What boards are told to map themselves to; ``common`` has it too.
    public var userID: UserID { common.userID }
    /// What the user signs in with: an e-mail address or a telephone number.
    public var userName: String { common.userName }

    /// Nil without a user id.
    init?(_ reply: JSONValue) {
        guard let common = UserInfo(rainMaker: reply) else { return nil }
        let texts = { (name: String) in (reply[name]?.array ?? []).compactMap(\.string) }
        self.common = common
        pictureURL = reply["picture_url"]?.string
        isAdministrator = reply["admin"]?.bool ?? false
        isSuperAdministrator = reply["super_admin"]?.bool ?? false
        roles = texts("user_roles")
        tags = texts("tags")
        administratorTags = texts("admin_tags")
        quota = reply["quota"]?.unlessNull
        customData = reply["custom_data"].flatMap(RainMakerCustomData.init)
        isGuest = reply["is_guest_user"]?.bool ?? false
        guestExpires = reply["expires_on"]?.double.map { UnixTime(seconds: $0) }
    }
}
