// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// One account.
struct User: Codable, Sendable, Equatable {
    /// The maximum length of a user name, in bytes.
    static let maximumName = 256

    /// The `user_id` of clients: a UUID.
    var id: String
    /// The e-mail address or phone number for sign-in; compared exactly, as in the cloud.
    var userName: String
    /// Nil for users who sign in only by an identity provider or a code.
    var password: StoredPassword?
    /// The identity provider of the first sign-in, such as `GitHub`.
    var provider: String?
    /// Whether the code of the sign-up was entered.
    var isConfirmed = true
    var isSuperAdmin = false
    /// Whether a sign-in by password also requires a code.
    var needsSecondStep = false
    /// For a guest: when the account ends, in milliseconds since 1970.
    var guestUntil: Int64?

    var name: String?
    /// A confirmed number, in addition to the user name.
    var phone: String?
    var locale: String?
    /// Each is `key:value`.
    var tags: [String] = []
    /// An object: name to `{"value", "perms"}`.
    var customData = JSONValue.object([])
    var publicProfile: JSONValue?
    /// Events that are switched off or on. Nil in the state of a simulator without them.
    var eventFilters: [JSONValue]?
    /// The endpoints for notifications, by the device's token.
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

/// All accounts, by id and by name, at most ``maximum``.
///
/// Every client that reaches the simulator can make accounts: sign-ups, guests, users of identity providers. So a new account replaces the
/// oldest unconfirmed one, and beyond ``maximum`` none is added.
struct UserTable: Codable, Sendable, Equatable {
    static let maximum = 2_000
    /// The maximum number of guests and unconfirmed sign-ups. Beyond it the oldest of them is removed.
    static let maximumUnproven = 500

    private var byID: [String: User] = [:]
    /// Ids of users who were not confirmed when they were added, oldest first.
    private var unproven: [String] = []
    private var idByName: [String: String] = [:]

    init() {}

    var count: Int { byID.count }
    var all: some Sequence<User> { byID.values }

    func named(_ name: String) -> User? { idByName[name].flatMap { byID[$0] } }

    /// Does nothing for a user who is not in the table; use ``add(_:)`` for that.
    subscript(id: String) -> User? {
        get { byID[id] }
        set {
            guard let old = byID[id] else { return }
            if newValue?.userName != old.userName {
                idByName[old.userName] = nil
                if let name = newValue?.userName { idByName[name] = id }
            }
            byID[id] = newValue
        }
    }

    enum Addition: Equatable {
        /// With the id of the user who was removed to make space.
        case added(replacing: String?)
        case full
    }

    /// Adds a user, or replaces the one with the same id.
    mutating func add(_ user: User) -> Addition {
        if byID[user.id] != nil {
            self[user.id] = user
            return .added(replacing: nil)
        }
        var gone: String?
        if !user.isProven {
            // Users who were confirmed or removed meanwhile do not count.
            if unproven.count >= Self.maximumUnproven { unproven.removeAll { byID[$0]?.isProven != false } }
            if unproven.count >= Self.maximumUnproven {
                gone = unproven.removeFirst()
                if let gone { self[gone] = nil }
            }
            unproven.append(user.id)
        }
        guard byID.count < Self.maximum else { return .full }
        byID[user.id] = user
        idByName[user.userName] = user.id
        return .added(replacing: gone)
    }

    // MARK: Codable: the names are computed from the users

    private enum CodingKeys: String, CodingKey { case byID, unproven }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        byID = try container.decode([String: User].self, forKey: .byID)
        unproven = try container.decode([String].self, forKey: .unproven)
        for user in byID.values { idByName[user.userName] = user.id }
    }
}

extension User {
    /// Whether the name is confirmed (by a code, by an identity provider, or as an account of the command line) and is not a guest's.
    fileprivate var isProven: Bool { isConfirmed && !isGuest }
}

/// The rules for names, passwords and locales.
enum AccountRules {
    enum NameProblem { case missing, email, phone }

    /// An e-mail address, or `+` and the digits of a phone number.
    static func problem(ofName name: String?) -> NameProblem? {
        guard let name, !name.isEmpty else { return .missing }
        if name.hasPrefix("+") { return isPhone(name) ? nil : .phone }
        return isEmail(name) ? nil : .email
    }

    private static func isEmail(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && text.utf8.count <= User.maximumName
            && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\u{7F}" && !$0.properties.isWhitespace }
            && parts[1].split(separator: ".", omittingEmptySubsequences: false).count > 1
            && parts[1].split(separator: ".", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
    }

    /// E.164: up to 15 digits.
    static func isPhone(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst()
        return text.hasPrefix("+") && (7...15).contains(digits.count)
            && digits.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// 8 to 256 characters, no white space, an upper-case letter, a lower-case letter and a digit.
    static func accepts(password: String) -> Bool {
        (8...256).contains(password.count) && !password.contains(where: \.isWhitespace)
            && password.contains(where: \.isUppercase) && password.contains(where: \.isLowercase)
            && password.contains(where: { $0.isASCII && $0.isNumber })
    }

    /// `en`, `en-us`, or `no_locale`.
    static func accepts(locale: String) -> Bool {
        if locale == noLocale { return true }
        let parts = locale.lowercased().utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return (1...2).contains(parts.count)
            && parts.allSatisfy { $0.count == 2 && $0.allSatisfy { (0x61...0x7A).contains($0) } }
    }

    static let noLocale = "no_locale"
}

/// A password that can be compared but not read: PBKDF2 with HMAC-SHA-256 (RFC 8018).
struct StoredPassword: Codable, Sendable, Equatable {
    /// Far fewer than a real cloud should use. The users are invented. Benchmarks and mutation tests sign in so often that slow hashing
    /// would dominate their time.
    private static let iterations = 100

    private var salt: [UInt8]
    private var iterations: Int
    private var hash: [UInt8]

    init(_ password: String) {
        var random = OpenSSLRandom()
        salt = random.bytes(16)
        iterations = Self.iterations
        hash = Self.derive(password, salt: salt, iterations: iterations)
    }

    func matches(_ password: String) -> Bool {
        equalInConstantTime(hash, Self.derive(password, salt: salt, iterations: iterations))
    }

    private static func derive(_ password: String, salt: [UInt8], iterations: Int) -> [UInt8] {
        let bytes = Array(password.utf8)
        var derived = [UInt8](repeating: 0, count: 32)
        let done = bytes.withUnsafeBytes { password in
            PKCS5_PBKDF2_HMAC(
                password.bindMemory(to: CChar.self).baseAddress, Int32(password.count), salt, Int32(salt.count),
                Int32(iterations), EVP_sha256(), Int32(derived.count), &derived)
        }
        precondition(done == 1, "libcrypto could not derive a key")
        return derived
    }
}
