// SPDX-License-Identifier: Apache-2.0
import Logging
import RainAccount
import RainCore
import RainMaker
import Synchronization

/// The SDK's main type: signs in, keeps the session, finds boards, and puts them on Wi-Fi and into the account.
///
/// ```swift
/// let kit = try RainKitClient(state: "/var/lib/gateway")
/// try await kit.signIn(user: "me@example.com", password: password)
/// let home = try WiFiNetwork("Home", passphrase: passphrase)
/// let node = try await kit.provision(.serial("/dev/ttyUSB0"), proof: "abcd1234", network: home) { print($0) }
/// ```
///
/// Any number of tasks may share a client, and a process may have several: none of them has global state. A client keeps its data in the
/// folder of its ``configuration``, which other processes may share too.
public final class RainKitClient: Sendable {
    /// The configuration of this client. It cannot be changed later.
    public let configuration: RainKitConfiguration
    /// The accounts that were signed in from this folder.
    public let accounts: AccountDirectory
    private let current = Mutex<AccountAccess?>(nil)
    private let boardRecords = Mutex<[String: BoardRecords]>([:])

    public init(_ configuration: RainKitConfiguration) {
        var configuration = configuration
        configuration.tools = configuration.tools.logging(to: configuration.logger)
        self.configuration = configuration
        accounts = AccountDirectory(
            folder: configuration.state, environment: configuration.environment, logger: configuration.logger,
            shared: configuration.sharedAccounts)
    }

    /// Creates a client with the defaults of ``RainKitConfiguration``.
    ///
    /// - Parameters:
    ///   - state: the absolute path of a folder private to the user. It is created when it is needed.
    ///   - deployment: the RainMaker cloud.
    /// - Throws: `invalidConfiguration` for a relative path.
    public convenience init(state: String, deployment: Deployment = .global, logger: Logger? = nil) throws {
        guard state.hasPrefix("/") else {
            throw RainKitError(
                AccountError(
                    .invalidConfiguration,
                    message: "the folder for sessions must be an absolute path, and \"\(state)\" is not one"))
        }
        self.init(RainKitConfiguration(state: state, deployment: deployment, logger: logger))
    }

    /// Closes what boards and radios share. The client stays usable; it opens them again.
    public func close() async {
        for transport in configuration.transports { await transport.close() }
    }

    // MARK: The account in use

    /// Returns the account that the configuration names, or the one in use. It may have no session. Nothing is sent.
    ///
    /// Throws `invalidConfiguration`, `unknownProvider` or `missingParameter` for unusable settings, and the errors of the list of
    /// accounts.
    public func account() throws -> AccountAccess {
        try RainKitError.rethrowing { () throws(AccountError) in try accountInUse() }
    }

    package func accountInUse() throws(AccountError) -> AccountAccess {
        if let known = current.withLock({ $0 }) { return known }
        // If nobody has signed in, another process still may, under another name or in another store. The next call looks again.
        let (found, isListed) = try storedAccount()
        guard isListed else { return found }
        return current.withLock { current in
            if let current { return current }
            current = found
            return found
        }
    }

    func use(_ account: AccountAccess) { current.withLock { $0 = account } }

    /// Removes a signed-out account from the list. An account whose session was not kept was never on the list, which then stays as it is.
    public func forget(_ account: AccountAccess) throws {
        try RainKitError.rethrowing { () throws(AccountError) in try takeOffList(account) }
    }

    private func takeOffList(_ account: AccountAccess) throws(AccountError) {
        // After a sign-in here the list has the name that the sign-in returned.
        guard let name = account.newSession?.account?.key.account ?? account.place.account else { return }
        let kind = account.newSession.map { $0.account?.kind ?? $0.kind } ?? account.place.kind
        try accounts.known.remove(name, at: account.name, keptIn: kind)
        guard kind != .memory else { return }
        forgetNames(of: name, at: account.name)
    }

    /// Returns the records that runs leave, for one identity system. All runs share the two stores: each store has a queue for its file.
    func records(at name: String) -> BoardRecords {
        boardRecords.withLock { records in
            if let known = records[name] { return known }
            let new = BoardRecords(
                pending: configuration.pendingMappings
                    ?? FilePendingMappings(path: "\(configuration.state)/pending-\(name).json"),
                claimed: configuration.claimedBoards
                    ?? FileClaimedBoards(path: "\(configuration.state)/claimed-\(name).json"))
            records[name] = new
            return new
        }
    }
}

/// What a later run needs to know about boards.
struct BoardRecords: Sendable {
    var pending: any PendingMappingStore
    var claimed: any ClaimedBoardStore
}

extension RainKitClient {
    /// Signs in with a user name and a password, and keeps the session.
    ///
    /// Throws `invalidCredentials` and related codes for a refusal, `secondStepRequired` if a one-time code is required as well, and the
    /// errors of the store that is to keep the session.
    @discardableResult
    public func signIn(user: String, password: Secret) async throws -> UserInfo {
        try await signIn(with: .password(user: user, password))
    }

    /// Signs in with a user name and a password given as text.
    @discardableResult
    public func signIn(user: String, password: String) async throws -> UserInfo {
        try await signIn(user: user, password: Secret(password))
    }

    /// Signs in unless a session is stored that the cloud still accepts. A program calls this each time it starts.
    ///
    /// A cloud that cannot be reached for the moment does not end a stored session: the program continues with it.
    ///
    /// - Parameter password: called only if the user has to sign in.
    /// - Returns: the id of the signed-in user.
    /// - Throws: `RainKitError`, as ``signIn(user:password:)-(String,Secret)`` does.
    @discardableResult
    public func signInIfNeeded(user: String, password: () async throws -> Secret) async throws -> UserID {
        do throws(AccountError) {
            let session = try accountInUse().session
            let stored = try await session.userID()
            do throws(AccountError) {
                return try await session.user().userID
            } catch {
                if error.isTransient { return stored }
                throw error
            }
        } catch {
            let error = RainKitError(error)
            guard error.needsSignIn else { throw error }
        }
        return try await signIn(user: user, password: try await password()).userID
    }

    /// Signs in unless a session is stored that the cloud still accepts, with a password given as text.
    @discardableResult
    public func signInIfNeeded(user: String, password: () async throws -> String) async throws -> UserID {
        try await signInIfNeeded(user: user) { Secret(try await password()) }
    }

    /// Signs in and keeps the session in place of any earlier one of that account. A sign-in that fails changes nothing: the client
    /// continues with its previous account.
    ///
    /// - Parameters:
    ///   - store: the store to keep the session in. It is tested before the user is asked for anything.
    ///   - savesCredentials: whether to keep a session that holds the user's password, or cookies that are renewed with it, as Liferay's
    ///   `basic` and `cookie` modes make them. Without it such a session ends with the process.
    @discardableResult
    public func signIn(
        with method: SignInMethod, keeping store: StoreChoice = .automatic,
        savingCredentials savesCredentials: Bool = false
    ) async throws -> UserInfo {
        try await signIn(
            with: method,
            to: try await newAccount(user: method.user, in: store, savingCredentials: savesCredentials))
    }

    /// Signs in to an account of ``newAccount(user:in:savingCredentials:)``, which the client uses from then on.
    @discardableResult
    public func signIn(with method: SignInMethod, to account: AccountAccess) async throws -> UserInfo {
        let context = SignInContext(account: account, tools: configuration.tools)
        let user = try await RainKitError.rethrowing { () async throws(AccountError) in
            // Tests the store once more before the user is asked. A store of the program's own was not tested before.
            try await account.session.signIn { () async throws(AccountError) in try await method.credentials(context) }
        }
        use(account)
        return user
    }
}

extension RainKitClient {
    /// Returns the session of the account in use: tokens, requests as the user, events. Its errors are `AccountError`.
    public func session() throws -> AccountSession { try account().session }

    /// Returns the signed-in user's id, from the stored session. Nothing is sent. Throws `not_signed_in`.
    public func userID() async throws -> UserID {
        try await RainKitError.rethrowing { () async throws(AccountError) in try await accountInUse().session.userID() }
    }

    /// Fetches the signed-in user's current profile from the identity system.
    public func user() async throws -> UserInfo {
        try await RainKitError.rethrowing { () async throws(AccountError) in try await accountInUse().session.user() }
    }

    /// Ends the session here and at the identity system. With `everywhere` it ends all of the user's sessions on all devices.
    @discardableResult
    public func signOut(everywhere: Bool = false) async throws -> AccountSession.SignOutOutcome {
        let account = try account()
        let outcome = try await RainKitError.rethrowing { () async throws(AccountError) in
            try await account.session.signOut(everywhere: everywhere)
        }
        try forget(account)
        return outcome
    }
}
