// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON
import RainCore

/// A user as the portal's `User` entity has one, under the portal's own names.
struct LiferayUser: Sendable, Equatable {
    /// Numbers are numbers, also those that came as text: `userId`, `companyId`, `portraitId`, `contactId`…
    var attributes: [JSONValue.Member]

    private static let numeric: Set<String> = [
        "userId", "companyId", "portraitId", "contactId", "facebookId", "createDate", "modifiedDate", "lastLoginDate",
        "loginDate", "status", "failedLoginAttempts", "graceLoginCount", "ldapServerId",
    ]
    /// What a portal tells about passwords and their reminders stays out of what is kept.
    private static let omitted: Set<String> = [
        "password", "passwordEncrypted", "digest", "reminderQueryAnswer", "reminderQueryQuestion", "passwordReset",
        "passwordModifiedDate",
    ]

    /// nil for an answer without a user's id, which portals send where there is no such user.
    init?(_ json: JSONValue) {
        guard let members = json.members else { return nil }
        attributes = members.filter { !Self.omitted.contains($0.name) }.map { member in
            guard Self.numeric.contains(member.name), let number = LenientInteger(member.value) else { return member }
            return .init(member.name, .integer(number.value))
        }
        guard let id = self["userId"]?.integer, id > 0 else { return nil }
    }

    subscript(name: String) -> JSONValue? { attributes.last { $0.name == name }?.value }

    var companyID: Int64? { self["companyId"]?.integer }

    var userInfo: UserInfo {
        let id = self["userId"]?.integer ?? 0
        let email = self["emailAddress"]?.string
        let screenName = self["screenName"]?.string
        var user = UserInfo(userID: UserID("\(id)"), userName: email ?? screenName ?? "\(id)")
        let names = ["firstName", "middleName", "lastName"].compactMap { self[$0]?.string }.filter { !$0.isEmpty }
        user.name = names.isEmpty ? screenName : names.joined(separator: " ")
        user.email = email
        user.locale = self["languageId"]?.string
        user.attributes = attributes
        return user
    }
}
