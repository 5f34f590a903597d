// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// One account.
struct User: Codable, Sendable, Equatable {
    /// Longest accepted user name, in bytes.
    static let maximumName = 256

    /// The `user_id` of clients: a UUID.
    var id: String
    /// The e-mail address or phone number that it signs in with; compared exactly, as the cloud does.
    var userName: String
    /// Nil for users who sign in by an identity provider or a code only.
    var password: StoredPassword?
    /// The identity provider of the first sign-in, such as `GitHub`.
    var provider: String?
    /// Whether the code of the sign-up was entered.
    var isConfirmed = true
    var isSuperAdmin = false
    /// Whether a password alone does not sign in: a code is asked for, too.
    var needsSecondStep = false
    /// For a guest: when the account ends, in milliseconds since 1970.
    var guestUntil: Int64?

    var name: String?
    /// A confirmed number, beside the user name.
    var phone: String?
    var locale: String?
    /// `key:value` each.
    var tags: [String] = []
    /// An object: name to `{"value", "perms"}`.
    var customData = JSONValue.object([])
    var publicProfile: JSONValue?
    /// Where notifications go, by the device's token.
    var pushEndpoints: [PushEndpoint] = []

    init(id: String, userName: String, password: StoredPassword?) {
        self.id = id
        self.userName = userName
        self.password = password
    }

    var isGuest: Bool { guestUntil != nil }

    func accepts(password given: String) -> Bool { password?.matches(given) ?? false }
}

struct PushEndpoint: Codable, Sendable, Equatable {
    var platform: String
    var deviceToken: String
    var arn: String
}
