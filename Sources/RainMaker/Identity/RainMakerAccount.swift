// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// Manages a user's account at a RainMaker deployment. Signing in and out belongs to `AccountSession`.
///
/// Calls that need no sign-in (signing up, resetting a password) do not touch the session. Every call throws `AccountError` and takes at
/// most about ten seconds. Input that breaks a known rule is refused before anything is sent
/// (`AccountError.weakPassword` and similar codes). A refusal by the cloud also has the cloud's number and message.
///
/// ```swift
/// let account = RainMakerAccount(.global, session: session, http: client)
/// try await account.signUp("dev@example.com", password: password)
/// try await account.confirmSignUp("dev@example.com", code: code)
/// let user = try await session.signIn(.password(user: "dev@example.com", password: password))
/// ```
public struct RainMakerAccount: Sendable {
    private let service: RainMakerService
    private let identity: RainMakerIdentity
    /// The session of the account's user. Use it to sign in and out.
    public let session: AccountSession

    /// - Parameter session: a session at the same deployment. Tokens of another deployment are refused before anything is sent.
    public init(_ deployment: Deployment, session: AccountSession, http: any HTTPClient) {
        service = RainMakerService(deployment, http: http)
        identity = RainMakerIdentity(deployment, http: http)
        self.session = session
    }

    /// Sends a call as the signed-in user.
    @discardableResult
    func call(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        try await service.call(call, in: session)
    }

    /// Asks the cloud to send the user a one-time code, for sign-in without a password by `SignInCredentials.oneTimeCode(_:code:)`.
    public func requestOneTimeCode(for user: String) async throws(AccountError) -> SignInChallenge {
        try await identity.requestOneTimeCode(user: user)
    }

    private static func query(locale: String?) throws(AccountError) -> [(name: String, value: String)] {
        try RainMakerInput.check(locale: locale)
        return locale.map { [(name: "locale", value: $0)] } ?? []
    }

    private static func list(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}

extension RainMakerAccount {
    /// Creates an account, which then needs to be confirmed. The cloud sends a code of six digits to the user.
    /// - Parameters:
    ///   - user: an e-mail address, or a telephone number with `+` and the country code.
    ///   - locale: the language of the message, such as `en`.
    /// - Throws: `accountExists` if the user name is taken, `weakPassword` and `invalidUserName` before anything is sent.
    public func signUp(_ user: String, password: Secret, locale: String? = nil) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try RainMakerInput.check(newPassword: password)
        let body: JSONValue = ["user_name": .string(user), "password": .string(password.revealString())]
        do throws(AccountError) {
            try await service.call(RainMakerCall(.post, "user2", query: Self.query(locale: locale), body: body))
        } catch {
            guard error.code == .forbidden, !error.isFromGateway else { throw error }
            var error = error
            error.message =
                "\(service.deployment.base.authority) does not let this user name sign up; ask the operator of the deployment"
            throw error
        }
    }

    /// Asks the cloud to send the code again. For the cloud this is a second sign-up with the same password.
    public func resendSignUpCode(_ user: String, password: Secret, locale: String? = nil) async throws(AccountError) {
        try await signUp(user, password: password, locale: locale)
    }

    /// Confirms a new account with the code that the cloud sent.
    /// - Parameter tags: the first tags of the account, each of the form `key:value`.
    /// - Throws: `wrongCode`, `codeExpired`, `alreadyVerified`.
    public func confirmSignUp(_ user: String, code: Secret, tags: [String] = []) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try RainMakerInput.check(code: code)
        try RainMakerInput.check(tags: tags)
        var body: [JSONValue.Member] = [
            .init("user_name", .string(user)), .init("verification_code", .string(code.revealString())),
        ]
        if !tags.isEmpty { body.append(.init("tags", Self.list(tags))) }
        do throws(AccountError) {
            try await service.call(RainMakerCall(.post, "user2", body: .object(body)))
        } catch {
            // The cloud's text about an unknown user mentions a password, which this call does not have.
            guard error.code == .invalidCredentials else { throw error }
            var error = error
            error.message = "the cloud has no account \(presentable(user)) that waits for a code; check the user name"
            throw error
        }
    }
}

extension RainMakerAccount {
    /// Asks the cloud to send a code to a user who forgot the password.
    /// - Throws: `unknownUser`.
    public func requestPasswordReset(_ user: String, locale: String? = nil) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try await service.call(
            RainMakerCall(
                .put, "forgotpassword2", query: Self.query(locale: locale), body: ["user_name": .string(user)]))
    }

    /// Sets a new password with the code that the cloud sent. Existing sessions continue.
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

    /// Changes the signed-in user's password. The cloud then ends all of the user's sessions, so this session is deleted too: sign in
    /// again.
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
    /// Returns everything that the cloud knows about the signed-in user.
    /// - Parameter customData: whether to ask for the custom data too, which may have a few hundred kilobytes.
    public func user(customData: Bool = false) async throws(AccountError) -> RainMakerUser {
        let query = customData ? [(name: "custom_data", value: "true")] : []
        guard let user = RainMakerUser(try await call(RainMakerCall(.get, "user2", query: query))) else {
            throw service.incomplete("user_id")
        }
        return user
    }

    /// Sends the changes one after the other. All are checked before the first is sent. If the cloud refuses one, the changes before it
    /// remain.
    public func update(_ changes: [Change]) async throws(AccountError) {
        for change in changes { try change.check() }
        for change in changes { try await call(RainMakerCall(.put, "user2", body: change.body)) }
    }
}

extension RainMakerAccount {
    /// One change to the signed-in user, for ``RainMakerAccount/update(_:)``.
    public enum Change: Sendable {
        /// The user's name: 1 to 256 characters.
        case name(String)
        /// The telephone number: `+`, country code and number. The cloud sends a code there. Throws `phoneNumberInUse`.
        case phoneNumber(String)
        /// Confirms the telephone number with the code that was sent to it.
        case phoneCode(Secret)
        /// Adds tags, each of the form `key:value`.
        case addTags([String])
        /// Removes tags, each in the form `key:value` in which it was added.
        case removeTags([String])
        /// Confirms tags that the deployment adds only with a code.
        case tagsCode(Secret)
        /// The language of the cloud's messages to the user, such as `en-us`. The value `no_locale` removes it.
        case locale(String)
        /// Whether sign-in needs a one-time code after the password. The cloud allows this change to some users only.
        case secondStep(Bool)
    }
}

extension RainMakerAccount.Change {
    fileprivate func check() throws(AccountError) {
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

    fileprivate var body: JSONValue {
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

/// Everything that the RainMaker cloud knows about a user. A missing value is nil or empty.
public struct RainMakerUser: Sendable, Equatable {
    /// The data that other providers have too: id, names, addresses.
    public var common: UserInfo
    /// The URL of the user's picture (`picture_url`), unchecked. This program never fetches it.
    public var pictureURL: String?
    /// Whether the user is one of the deployment's administrators (`admin`); false if the cloud does not say. For display only.
    public var isAdministrator: Bool
    /// Whether the user is one of its super administrators (`super_admin`); false if the cloud does not say. For display only.
    public var isSuperAdministrator: Bool
    /// The user's roles, in the deployment's own terms (`user_roles`).
    public var roles: [String]
    /// The tags that the user set, each of the form `key:value`.
    public var tags: [String]
    /// The tags that the deployment's administrators set, each of the form `key:value`.
    public var administratorTags: [String]
    /// The user's quotas, in the deployment's own terms.
    public var quota: JSONValue?
    /// Values that applications store with the account; nil unless they were requested.
    public var customData: RainMakerCustomData?
    /// Whether this is a guest's account, which has no name and no password and ends at ``guestExpires``.
    public var isGuest: Bool
    /// The time when a guest's account ends.
    public var guestExpires: UnixTime?

    /// The user id that boards send to map themselves. ``common`` has it too.
    public var userID: UserID { common.userID }
    /// The name with which the user signs in: an e-mail address or a telephone number.
    public var userName: String { common.userName }

    /// Returns nil without a user id.
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
    /// The maximum size of custom data: the service accepts up to 399 KB.
    private static let maximumBytes = 399 << 10

    /// Returns all values that applications store with the signed-in user's account.
    public func customData() async throws(AccountError) -> RainMakerCustomData {
        guard let data = RainMakerCustomData(try await call(RainMakerCall(.get, "user/custom_data"))) else {
            throw service.incomplete("an object")
        }
        return data
    }

    /// Stores a value under its key. Other keys do not change.
    ///
    /// The cloud merges objects: members that are not named do not change, and a member that is `null` is removed. Any other value replaces
    /// the old one. To replace a whole object, remove its key first (``removeCustomData(_:)``).
    public func setCustomData(_ entry: RainMakerCustomData.Entry) async throws(AccountError) {
        try Self.check(key: entry.key)
        var members: [JSONValue.Member] = [.init("value", entry.value ?? .null)]
        if !entry.permissions.isEmpty { members.append(.init("perms", .array(entry.permissions))) }
        let body = JSONValue.object([.init(entry.key, .object(members))])
        guard body.serialized().count <= Self.maximumBytes else {
            throw AccountError(.invalidInput, message: "custom data can have at most 399 KB")
        }
        try await call(RainMakerCall(.put, "user/custom_data", body: body))
    }

    /// Removes a key with its value. A missing key is not an error.
    public func removeCustomData(_ key: String) async throws(AccountError) {
        try Self.check(key: key)
        try await call(RainMakerCall(.put, "user/custom_data", body: .object([.init(key, .null)])))
    }

    private static func check(key: String) throws(AccountError) {
        guard !key.isEmpty else { throw AccountError(.invalidInput, message: "custom data needs a key") }
    }
}

extension RainMakerAccount {
    /// Asks the cloud to put together everything that it has stored about the signed-in user.
    ///
    /// - Returns: the request's id, for ``collectedData(_:)``.
    public func requestData() async throws(AccountError) -> RequestID {
        let reply = try await call(RainMakerCall(.post, "user/data-requests", body: [:]))
        guard let id = reply["request_id"]?.string, !id.isEmpty else {
            throw service.incomplete("request_id", in: reply)
        }
        return RequestID(id)
    }

    /// Returns the URL of the data that the user requested; nil while the cloud puts it together. Whoever has the URL can read the data; it
    /// works for 24 hours.
    ///
    /// - Throws: `rejected` for a request that the cloud does not know.
    public func collectedData(_ request: RequestID) async throws(AccountError) -> Secret? {
        let id = PercentEncoding.encoded(request.rawValue)
        let reply = try await call(RainMakerCall(.get, "user/data-requests/\(id)"))
        guard let url = reply["presigned_url"]?.unlessNull else { return nil }
        guard let text = url.string, text.hasPrefix("https://") else {
            throw service.incomplete("presigned_url", in: reply)
        }
        return Secret(text)
    }

    /// Returns what a user shows to all other users: an object of applications, which is empty if the user shows nothing.
    ///
    /// - Parameter user: another user's name; nil for the signed-in user.
    /// - Throws: `unknownUser`.
    public func publicProfile(of user: String? = nil) async throws(AccountError) -> JSONValue {
        let reply = try await call(
            RainMakerCall(.get, "user/public_profile", query: user.map { [("user_name", $0)] } ?? []))
        let profile = reply["profile"]?.unlessNull ?? [:]
        guard profile.members != nil else { throw service.incomplete("an object in profile", in: reply) }
        return profile
    }

    /// Replaces what the signed-in user shows to all other users.
    ///
    /// - Parameter profile: an object; nil removes it.
    public func setPublicProfile(_ profile: JSONValue?) async throws(AccountError) {
        guard profile == nil || profile?.members != nil else {
            throw AccountError(.invalidInput, message: "a public profile must be a JSON object")
        }
        try await call(RainMakerCall(.put, "user/public_profile", body: ["profile": profile ?? .null]))
    }
}

/// Values that applications store with an account, each under a key.
public struct RainMakerCustomData: Sendable, Equatable {
    /// A value and its key.
    public struct Entry: Sendable, Equatable {
        /// The name that the application chose for the value.
        public var key: String
        /// The value: any JSON, or nil for a key without a value.
        public var value: JSONValue?
        /// Permissions of others to see the value, in the deployment's own terms.
        public var permissions: [JSONValue]

        public init(key: String, value: JSONValue?, permissions: [JSONValue] = []) {
            self.key = key
            self.value = value
            self.permissions = permissions
        }
    }

    /// The entries, in the cloud's order.
    public var entries: [Entry]

    /// Returns the entry under a key, or nil if there is none. If a key occurs more than once, the last entry counts.
    public subscript(key: String) -> Entry? { entries.last { $0.key == key } }

    /// Reads `{"<key>": {"value": …, "perms": […]}}`. Returns nil for anything but an object.
    fileprivate init?(_ json: JSONValue) {
        guard let members = json.members else { return nil }
        entries = members.map { member in
            Entry(
                key: member.name, value: member.value["value"]?.unlessNull,
                permissions: member.value["perms"]?.array ?? [])
        }
    }
}

extension RainMakerAccount {
    /// Begins to turn the signed-in guest into an account with a name. The cloud sends a code to the new user name.
    /// - Parameter user: an e-mail address.
    public func requestGuestConversion(to user: String) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try await convert(RainMakerCall(.post, "user/guest/conversion/initiate", body: ["user_name": .string(user)]))
    }

    /// The cloud refuses users who are not guests as it refuses users without a right.
    private func convert(_ request: RainMakerCall) async throws(AccountError) {
        do throws(AccountError) {
            try await call(request)
        } catch {
            guard error.code == .forbidden, !error.isFromGateway, let own = try? await user(), !own.isGuest else {
                throw error
            }
            var error = error
            error.message = "\(presentable(own.userName)) is not a guest, and only a guest can become an account"
            throw error
        }
    }

    /// Turns the guest into that account, with its nodes and data, and signs in to it.
    ///
    /// If the sign-in fails, the guest is converted anyway, and the password works later.
    /// - Parameter other: the session to sign in, instead of the guest's session.
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
        try await convert(RainMakerCall(.post, "user/guest/conversion/verify", body: body))
        do throws(AccountError) {
            return try await (other ?? session).signIn(.password(user: user, password: password))
        } catch {
            var error = error
            error.message = "the guest is now the account \(user), but signing in failed: \(error.message)"
            throw error
        }
    }
}

extension RainMakerAccount {
    /// The result of a request to delete the account.
    public enum DeletionStep: Sendable {
        /// The cloud has sent a code. Call ``confirmDeletion(code:)`` with it to delete the account.
        case codeSent
        /// The account was a guest's and is deleted, and so is this session. A guest needs no code.
        case deleted
    }

    /// Asks the cloud to delete the signed-in user's account, its nodes' mappings and its data.
    /// - Parameter locale: the language of the message with the code.
    public func requestDeletion(locale: String? = nil) async throws(AccountError) -> DeletionStep {
        let query = [(name: "request", value: "true")] + (try Self.query(locale: locale))
        // The cloud's answer is the same for guests and other users.
        let own = try await user()
        try await call(RainMakerCall(.delete, "user2", query: query))
        guard own.isGuest else { return .codeSent }
        try await session.forget(own.userID)
        return .deleted
    }

    /// Deletes the account permanently, and this session with it.
    /// - Throws: `wrongCode`, `limitReached` after too many wrong codes, `invalidInput` if the deletion was not requested.
    public func confirmDeletion(code: Secret) async throws(AccountError) {
        try RainMakerInput.check(code: code)
        let user = try await session.userID()
        try await call(
            RainMakerCall(.delete, "user2", query: [(name: "verification_code", value: code.revealString())]))
        try await session.forget(user)
    }
}

/// A version of the interface that a deployment supports, and its description.
public struct RainMakerVersion: Sendable, Equatable {
    /// The version's name, such as `v1`.
    public var name: String
    /// The build of the service (`build_info`), or nil if the deployment does not say.
    public var build: String?
    /// The operator's notes about the version, for people; nil if there are none.
    public var releaseNotes: String?
}

extension RainMakerAccount {
    /// The only version that this client supports.
    public static let spokenVersion = "v1"

    /// Returns the versions of the interface that the deployment supports. Needs no sign-in.
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

    /// Returns the same list, after checking that it contains the version of this client.
    /// - Throws: `unsupported`.
    public func supportedVersions() async throws(AccountError) -> [RainMakerVersion] {
        let versions = try await versions()
        guard versions.contains(where: { $0.name == Self.spokenVersion }) else {
            let spoken = versions.isEmpty ? "none" : versions.map { presentable($0.name) }.joined(separator: ", ")
            throw AccountError(
                .unsupported,
                message: "\(service.deployment.base.authority) supports \(spoken), not \(Self.spokenVersion); "
                    + "a newer version of this program may work")
        }
        return versions
    }
}
