// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// A user's account at a RainMaker deployment: everything that can be done with it beside signing in and out, which is
/// ``AccountSession``'s.
///
/// What needs no sign-in (signing up, resetting a password) does not touch the session. Every call throws ``AccountError`` and
/// takes at most some ten seconds. What breaks a rule that is known here (``AccountError/Code-swift.struct/weakPassword`` and its
/// neighbours) is refused before anything is sent; a refusal by the cloud has its number and words as well.
///
/// ```swift
/// let account = RainMakerAccount(.global, session: session, http: client)
/// try await account.signUp("dev@example.com", password: password)
/// try await account.confirmSignUp("dev@example.com", code: code)
/// let user = try await session.signIn(.password(user: "dev@example.com", password: password))
/// ```
public struct RainMakerAccount: Sendable {
    let service: RainMakerService
    let identity: RainMakerIdentity
    /// Whose account it is. Signing in and out is done with it.
    public let session: AccountSession

    /// - Parameter session: one at the same deployment; another's tokens are refused before anything is sent.
    public init(_ deployment: Deployment, session: AccountSession, http: any HTTPClient) {
        service = RainMakerService(deployment, http: http)
        identity = RainMakerIdentity(deployment, http: http)
        self.session = session
    }

    /// In the signed-in user's name.
    @discardableResult
    func call(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        try await service.call(call, in: session)
    }

    /// Has a one-time code sent to the user, to sign in by ``SignInCredentials/oneTimeCode(_:code:)`` without a password.
    public func requestOneTimeCode(for user: String) async throws(AccountError) -> SignInChallenge {
        try await identity.requestOneTimeCode(user: user)
    }

    static func query(locale: String?) throws(AccountError) -> [(name: String, value: String)] {
        try RainMakerInput.check(locale: locale)
        return locale.map { [(name: "locale", value: $0)] } ?? []
    }

    static func list(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}

extension RainMakerAccount {
    /// Creates an account that has to be confirmed: the cloud sends a code of six digits to the user.
    /// - Parameters:
    ///   - user: an e-mail address, or a telephone number with `+` and the country code.
    ///   - locale: the language of the message, such as `en`.
    /// - Throws: `accountExists` if somebody has it, `weakPassword` and `invalidUserName` before anything is sent.
    public func signUp(_ user: String, password: Secret, locale: String? = nil) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try RainMakerInput.check(newPassword: password)
        let body: JSONValue = ["user_name": .string(user), "password": .string(password.revealString())]
        try await service.call(RainMakerCall(.post, "user2", query: Self.query(locale: locale), body: body))
    }

    /// Has the code sent anew: to the cloud that is the sign-up once more, with the same password.
    public func resendSignUpCode(_ user: String, password: Secret, locale: String? = nil) async throws(AccountError) {
        try await signUp(user, password: password, locale: locale)
    }

    /// Confirms a new account with the code that was sent.
    /// - Parameter tags: what the account is marked with from the start, each `key:value`.
    /// - Throws: `wrongCode`, `codeExpired`, `alreadyVerified`.
    public func confirmSignUp(_ user: String, code: Secret, tags: [String] = []) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try RainMakerInput.check(code: code)
        try RainMakerInput.check(tags: tags)
        var body: [JSONValue.Member] = [
            .init("user_name", .string(user)), .init("verification_code", .string(code.revealString())),
        ]
        if !tags.isEmpty { body.append(.init("tags", Self.list(tags))) }
        try await service.call(RainMakerCall(.post, "user2", body: .object(body)))
    }
}

extension RainMakerAccount {
    /// Has a code sent to a user who forgot the password.
    /// - Throws: `unknownUser`.
    public func requestPasswordReset(_ user: String, locale: String? = nil) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try await service.call(
            RainMakerCall(
                .put, "forgotpassword2", query: Self.query(locale: locale), body: ["user_name": .string(user)]))
    }

    /// Sets a new password with the code that was sent. Sessions that exist go on.
    /// - Throws: `wrongCode`, `codeExpired`, and `weakPassword` before anything is sent.
    public func resetPassword(_ user: String, to newPassword: Secret, code: Secret) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try RainMakerInput.check(code: code)
        try RainMakerInput.check(newPassword: newPassword)
        let body: JSONValue = [
            "user_name": .string(user), "password": .string(newPassword.revealString()),
            "verification_code": .string(code.revealString()),
        ]
        try await service.call(RainMakerCall(.put, "forgotpassword2", body: body))
    }

    /// Changes the signed-in user's password. The cloud ends all of the user's sessions with that, so the one here is dropped:
    /// sign in again.
    /// - Throws: `invalidCredentials` if `password` is not the current one, and `weakPassword` before anything is sent.
    public func changePassword(from password: Secret, to newPassword: Secret) async throws(AccountError) {
        guard !password.isEmpty else {
            throw AccountError(.invalidInput, message: "the current password is missing")
        }
        try RainMakerInput.check(newPassword: newPassword)
        let body: JSONValue = [
            "password": .string(password.revealString()), "newpassword": .string(newPassword.revealString()),
        ]
        let user = try await session.userID()
        try await call(RainMakerCall(.put, "password2", body: body))
        try await session.forget(user)
    }
}

extension RainMakerAccount {
    /// Everything that the cloud says about the signed-in user.
    /// - Parameter customData: whether to ask for the custom data, too, which may be some hundred kilobytes.
    public func user(customData: Bool = false) async throws(AccountError) -> RainMakerUser {
        let query = customData ? [(name: "custom_data", value: "true")] : []
        guard let user = RainMakerUser(try await call(RainMakerCall(.get, "user2", query: query))) else {
            throw service.incomplete("user_id")
        }
        return user
    }

    /// Makes one change after the other, as the cloud takes them. All are checked before the first is sent; when the cloud refuses
    /// one, those before it have been made.
    public func update(_ changes: [Change]) async throws(AccountError) {
        for change in changes { try change.check() }
        for change in changes { try await call(RainMakerCall(.put, "user2", body: change.body)) }
    }
}

extension RainMakerAccount {
    /// One thing about the signed-in user that can be changed (``RainMakerAccount/update(_:)``).
    public enum Change: Sendable {
        /// 1 to 256 characters.
        case name(String)
        /// `+`, country code and number; the cloud sends a code there. Throws `phoneNumberInUse`.
        case phoneNumber(String)
        /// Confirms the telephone number with the code that was sent to it.
        case phoneCode(Secret)
        /// Each `key:value`.
        case addTags([String])
        /// Each `key:value`, as it was added.
        case removeTags([String])
        /// Confirms tags that the deployment lets a user have with a code only.
        case tagsCode(Secret)
        /// The language in which the cloud writes to the user, such as `en-us`; `no_locale` takes it away.
        case locale(String)
        /// Whether signing in takes a one-time code after the password. The cloud lets some users change it only.
        case secondStep(Bool)
    }
}

extension RainMakerAccount.Change {
    func check() throws(AccountError) {
        switch self {
        case .name(let name): try RainMakerInput.check(name: name)
        case .phoneNumber(let number): try RainMakerInput.check(phoneNumber: number)
        case .phoneCode(let code), .tagsCode(let code): try RainMakerInput.check(code: code)
        case .addTags(let tags), .removeTags(let tags):
            guard !tags.isEmpty else { throw AccountError(.invalidTag, message: "no tag was given") }
            try RainMakerInput.check(tags: tags)
        case .locale(let locale): try RainMakerInput.check(locale: locale)
        case .secondStep: break
        }
    }

    var body: JSONValue {
        switch self {
        case .name(let name): ["name": .string(name)]
        case .phoneNumber(let number): ["phone_number": .string(number)]
        case .phoneCode(let code): ["verification_code": .string(code.revealString())]
        case .addTags(let tags): ["operation": "add", "tags": RainMakerAccount.list(tags)]
        case .removeTags(let tags): ["operation": "remove", "tags": RainMakerAccount.list(tags)]
        case .tagsCode(let code): ["tags_verification_code": .string(code.revealString())]
        case .locale(let locale): ["locale": .string(locale)]
        case .secondStep(let isOn): ["mfa": .bool(isOn)]
        }
    }
}

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

extension RainMakerAccount {
    /// The service takes up to 399 KB of custom data.
    private static let maximumBytes = 399 << 10

    /// All values that applications keep with the signed-in user's account.
    public func customData() async throws(AccountError) -> RainMakerCustomData {
        guard let data = RainMakerCustomData(try await call(RainMakerCall(.get, "user/custom_data"))) else {
            throw service.incomplete("an object")
        }
        return data
    }

    /// Keeps a value under its key. Other keys stay as they are.
    ///
    /// The cloud merges: of an object, the members that are not named stay as they were, and one that is `null` goes. Anything else takes
    /// the place of what was there. To replace an object whole, remove its key first (``removeCustomData(_:)``).
    public func setCustomData(_ entry: RainMakerCustomData.Entry) async throws(AccountError) {
        try Self.check(key: entry.key)
        var members: [JSONValue.Member] = [.init("value", entry.value ?? .null)]
        if !entry.permissions.isEmpty { members.append(.init("perms", .array(entry.permissions))) }
        let body = JSONValue.object([.init(entry.key, .object(members))])
        guard body.serialized().count <= Self.maximumBytes else {
            throw AccountError(.invalidInput, message: "custom data has at most 399 KB")
        }
        try await call(RainMakerCall(.put, "user/custom_data", body: body))
    }

    /// Removes a key with its value. One that is not there is no error.
    public func removeCustomData(_ key: String) async throws(AccountError) {
        try Self.check(key: key)
        try await call(RainMakerCall(.put, "user/custom_data", body: .object([.init(key, .null)])))
    }

    private static func check(key: String) throws(AccountError) {
        guard !key.isEmpty else { throw AccountError(.invalidInput, message: "custom data needs a key") }
    }
}

/// Values of applications that the cloud keeps with an account, each under a key.
public struct RainMakerCustomData: Sendable, Equatable {
    /// One value and its key.
    public struct Entry: Sendable, Equatable {
        /// The name that the application chose for the value.
        public var key: String
        /// Any JSON; nil where a key has no value.
        public var value: JSONValue?
        /// Who else may see it, in the deployment's own terms.
        public var permissions: [JSONValue]

        public init(key: String, value: JSONValue?, permissions: [JSONValue] = []) {
            self.key = key
            self.value = value
            self.permissions = permissions
        }
    }

    /// In the order in which the cloud gave them.
    public var entries: [Entry]

    /// The entry under a key; nil if there is none, and the last of several.
    public subscript(key: String) -> Entry? { entries.last { $0.key == key } }

    /// `{"<key>": {"value": …, "perms": […]}}`; nil for anything but an object.
    init?(_ json: JSONValue) {
        guard let members = json.members else { return nil }
        entries = members.map { member in
            Entry(
                key: member.name, value: member.value["value"]?.unlessNull,
                permissions: member.value["perms"]?.array ?? [])
        }
    }
}

extension RainMakerAccount {
    /// Begins to turn the signed-in guest into an account with a name: the cloud sends a code there.
    /// - Parameter user: an e-mail address.
    public func requestGuestConversion(to user: String) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try await call(RainMakerCall(.post, "user/guest/conversion/initiate", body: ["user_name": .string(user)]))
    }

    /// Turns the guest into that account, nodes and data included, and signs in to it.
    ///
    /// If signing in fails the guest is converted nevertheless, and the password will do later.
    /// - Parameter other: the session to sign in, where it is not to take the place of the guest's.
    public func confirmGuestConversion(
        to user: String, password: Secret, code: Secret, signingIn other: AccountSession? = nil
    ) async throws(AccountError) -> UserInfo {
        try RainMakerInput.check(userName: user)
        try RainMakerInput.check(code: code)
        try RainMakerInput.check(newPassword: password)
        let body: JSONValue = [
            "user_name": .string(user), "verification_code": .string(code.revealString()),
            "password": .string(password.revealString()),
        ]
        try await call(RainMakerCall(.post, "user/guest/conversion/verify", body: body))
        do throws(AccountError) {
            return try await (other ?? session).signIn(.password(user: user, password: password))
        } catch {
            var error = error
            error.message = "the guest is now \(user), but signing in failed: \(error.message)"
            throw error
        }
    }
}

extension RainMakerAccount {
    /// What has come of a request to delete the account.
    public enum DeletionStep: Sendable {
        /// The cloud has sent a code: ``confirmDeletion(code:)`` with it deletes the account.
        case codeSent
        /// A guest's account, which needs no code, is gone, and the session here with it.
        case deleted
    }

    /// Asks the cloud to delete the signed-in user's account, its nodes' mappings and its data.
    /// - Parameter locale: the language of the message with the code.
    public func requestDeletion(locale: String? = nil) async throws(AccountError) -> DeletionStep {
        let query = [(name: "request", value: "true")] + (try Self.query(locale: locale))
        // The cloud's answer is the same for both.
        let own = try await user()
        try await call(RainMakerCall(.delete, "user2", query: query))
        guard own.isGuest else { return .codeSent }
        try await session.forget(own.userID)
        return .deleted
    }

    /// Deletes the account for good; the session here is gone with it.
    /// - Throws: `wrongCode`, `limitReached` after too many of those, `invalidInput` if the deletion was not asked for.
    public func confirmDeletion(code: Secret) async throws(AccountError) {
        try RainMakerInput.check(code: code)
        let user = try await session.userID()
        try await call(
            RainMakerCall(.delete, "user2", query: [(name: "verification_code", value: code.revealString())]))
        try await session.forget(user)
    }
}

/// A version of the interface that a deployment speaks, and what it says about it.
public struct RainMakerVersion: Sendable, Equatable {
    /// Such as `v1`.
    public var name: String
    /// Which build of the service speaks it (`build_info`); nil where the deployment does not say.
    public var build: String?
    /// The operator's words about the version, for people; nil where there are none.
    public var releaseNotes: String?
}

extension RainMakerAccount {
    /// The one version that is spoken here.
    public static let spokenVersion = "v1"

    /// The versions of the interface that the deployment speaks. Needs no sign-in.
    public func versions() async throws(AccountError) -> [RainMakerVersion] {
        var call = RainMakerCall(.get, "apiversions")
        call.isVersioned = false
        let reply = try await service.call(call)
        guard let names = reply["supported_versions"]?.array?.compactMap(\.string) else {
            throw service.incomplete("supported_versions", in: reply)
        }
        let details = reply["additional_info"]?.array ?? []
        return names.map { name in
            let detail = details.first { $0["version"]?.string == name }
            return RainMakerVersion(
                name: name, build: detail?["build_info"]?.string, releaseNotes: detail?["release_notes"]?.string)
        }
    }

    /// The same, if the version that is spoken here is among them.
    /// - Throws: `unsupported`.
    public func supportedVersions() async throws(AccountError) -> [RainMakerVersion] {
        let versions = try await versions()
        guard versions.contains(where: { $0.name == Self.spokenVersion }) else {
            let spoken = versions.isEmpty ? "none" : versions.map { presentable($0.name) }.joined(separator: ", ")
            throw AccountError(
                .unsupported,
                message: "\(service.deployment.base.authority) speaks \(spoken), not \(Self.spokenVersion); "
                    + "a newer version of this program may")
        }
        return versions
    }
}
