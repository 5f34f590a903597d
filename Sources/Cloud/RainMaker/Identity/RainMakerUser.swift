// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON
import RainCore

/// Everything that the RainMaker cloud says about a user. What is not set is nil or empty.
public struct RainMakerUser: Sendable, Equatable {
    /// What other providers have too: id, names, addresses.
    public var common: UserInfo
    public var pictureURL: String?
    public var isAdministrator: Bool
    public var isSuperAdministrator: Bool
    public var roles: [String]
    /// `key:value`, set by the user.
    public var tags: [String]
    /// `key:value`, set by the deployment's administrators.
    public var administratorTags: [String]
    /// How much of what the user may have, in the deployment's own terms.
    public var quota: JSONValue?
    /// Values that applications keep with the account; nil unless they were asked for.
    public var customData: RainMakerCustomData?
    public var isGuest: Bool
    /// When a guest's account ends.
    public var guestExpires: UnixTime?

    public var userID: UserID { common.userID }
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
