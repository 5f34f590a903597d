import JSON
import Vocabulary

/// A user as SPiD's API describes one.
struct SPiDUser {
    var profile: Profile

    /// Ids come as digits in a string or as a number. nil for data that name nobody.
    init?(_ data: JSONValue) {
        guard let id = Self.userID(data["userId"] ?? data["user_id"]) else { return nil }
        let email = data["email"]?.string
        let name = data["displayName"]?.string ?? data["name"]?["formatted"]?.string
        var profile = Profile(userID: id, userName: email ?? name ?? id.rawValue)
        profile.name = name
        profile.email = email
        profile.phoneNumber = data["phoneNumber"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        profile.locale = data["locale"]?.string
        self.profile = profile
    }

    /// The user whom a token is for; nil for a token that is the client's own, where SPiD writes `false`, `0` or nothing.
    static func userID(_ json: JSONValue?) -> UserID? {
        let text: String? = json?.string ?? json?.integer.map { "\($0)" }
        guard let text, !text.isEmpty, text != "0", text.utf8.count <= 64,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D })
        else { return nil }
        return UserID(text)
    }
}
