// SPDX-License-Identifier: Apache-2.0
import Logging
import RainAccount
import RainCore
import RainMaker
import Synchronization

/// The front door: signs in, keeps the session, finds boards, and puts them on Wi-Fi and into the account.
///
/// ```swift
/// let kit = try RainKitClient(state: "/var/lib/gateway")
/// try await kit.signIn(user: "me@example.com", password: password)
/// let home = try WiFiNetwork("Home", passphrase: passphrase)
/// let node = try await kit.provision(.serial("/dev/ttyUSB0"), proof: "abcd1234", network: home) { print($0) }
/// ```
///
/// A client may be shared by any number of tasks, and a process may have several: none of them has global state. What it keeps is in the
/// folder of its ``configuration``, which other processes may share too.
public final class RainKitClient: Sendable {
    /// What the client was made with; another configuration takes another client.
    public let configuration: RainKitConfiguration
    /// The accounts that were signed in from this folder.
    public let accounts: AccountDirectory
    private let current = Mutex<AccountAccess?>(nil)
    private let boardRecords = Mutex<[String: BoardRecords]>([:])

    public init(_ configuration: RainKitConfiguration) {
        self.configuration = configuration
        accounts = AccountDirectory(
            folder: configuration.state, environment: configuration.environment, logger: configuration.logger)
    }

    /// A client with the defaults of ``RainKitConfiguration``.
    ///
    /// - Parameters:
    ///   - state: an absolute path to a folder private to the user; made when it is needed.
    ///   - deployment: the RainMaker cloud.
    /// - Throws: `invalidConfiguration` for a relative path.
    public convenience init(
        state: String, deployment: Deployment = .global, logger: Logger? = nil
    ) throws(AccountError) {
        guard state.hasPrefix("/") else {
            throw AccountError(
                .invalidConfiguration, message: "the folder for sessions is an absolute path, and \"\(state)\" is none")
        }
        self.init(RainKitConfiguration(state: state, deployment: deployment, logger: logger))
    }

    /// Lets go of what boards and radios share. The client can be used on; it opens them again.
    public func close() async {
        for transport in configuration.transports { await transport.close() }
    }

    // MARK: The account in use

    /// The account that the configuration names, or the one in use; its session may be none. Nothing is sent.
    ///
    /// Throws `invalidConfiguration`, `unknownProvider`, `missingParameter` for settings that lead nowhere, and what the list of accounts
    /// throws.
    public func account() throws(AccountError) -> AccountAccess {
        if let known = current.withLock({ $0 }) { return known }
        let found = try storedAccount()
        guard try isListed(found) else { return found }
        return current.withLock { current in
            if let current { return current }
            current = found
            return found
        }
    }

    /// Whether somebody has signed in to it. Otherwise another process may yet, under another name or in another store: the next call looks
    /// again.
    private func isListed(_ account: AccountAccess) throws(AccountError) -> Bool {
        if configuration.sessions != nil || account.place.kind != .file { return true }
        guard let name = account.place.account else { return false }
        return try accounts.known.load().entry(name, at: account.name) != nil
    }

    func use(_ account: AccountAccess) { current.withLock { $0 = account } }

    /// Takes a signed-out account off the list. One that was never on it, because its session was not kept, leaves the list as it is.
    public func forget(_ account: AccountAccess) throws(AccountError) {
        guard account.newSession?.outlivesProcess != false else { return }
        // After a sign-in here the list has the name that the user turned out to have.
        guard let name = account.newSession?.account?.key.account ?? account.place.account else { return }
        try accounts.known.change { $0.remove(name, at: account.name) }
    }

    /// What runs leave of boards, for one identity system. All runs share the two stores: each store has a queue for its file.
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

/// What a later run has to know of boards.
struct BoardRecords: Sendable {
    var pending: any PendingMappingStore
    var claimed: any ClaimedBoardStore
}

extension RainKitClient {
    /// Signs in with a user name and a password, and keeps the session.
    ///
    /// Throws `invalidCredentials` and its neighbours for a refusal, `secondStepRequired` where a one-time code is wanted as well, and what
    /// the store throws that is to keep the session.
    @discardableResult
    public func signIn(user: String, password: Secret) async throws(AccountError) -> UserInfo {
        try await signIn(with: .password(user: user, password))
    }

    /// The same with a password that is at hand as text.
    @discardableResult
    public func signIn(user: String, password: String) async throws(AccountError) -> UserInfo {
        try await signIn(user: user, password: Secret(password))
    }

    /// Signs in and keeps the session, in the place of any earlier one of that account. A sign-in that fails changes nothing: the client
    /// goes on with the account that it used before.
    ///
    /// - Parameters:
    ///   - store: where the session is to be kept. That is tried before anybody is asked for anything.
    ///   - savesCredentials: whether to keep a session that holds the user's password, or cookies that are renewed with it, as Liferay's
    ///     `basic` and `cookie` modes make them. Without it such a session ends with the process.
    @discardableResult
    public func signIn(
        with method: SignInMethod, keeping store: StoreChoice = .automatic,
        savingCredentials savesCredentials: Bool = false
    ) async throws(AccountError) -> UserInfo {
        try await signIn(
            with: method,
            to: try await newAccount(user: method.user, in: store, savingCredentials: savesCredentials))
    }

    /// Signs in to an account of ``newAccount(user:in:savingCredentials:)``, which the client uses from then on.
    @discardableResult
    public func signIn(
        with method: SignInMethod, to account: AccountAccess
    ) async throws(AccountError) -> UserInfo {
        let context = SignInContext(account: account, tools: configuration.tools)
        // Tries the store once more before anybody is asked: one of the program's own was not tried before.
        let user = try await account.session.signIn { () async throws(AccountError) in
            try await method.credentials(context)
        }
        use(account)
        return user
    }
}

extension RainKitClient {
    /// The session of the account in use: tokens, requests in the user's name, events.
    public func session() throws(AccountError) -> AccountSession { try account().session }

    /// The signed-in user's id, from the stored session: nothing is sent. Throws `notSignedIn`.
    public func userID() async throws(AccountError) -> UserID { try await session().userID() }

    /// The signed-in user, as the identity system has them now.
    public func user() async throws(AccountError) -> UserInfo { try await session().user() }

    /// Ends the session here and at the identity system; `everywhere` ends all of the user's sessions on all devices.
    @discardableResult
    public func signOut(everywhere: Bool = false) async throws(AccountError) -> AccountSession.SignOutOutcome {
        let account = try account()
        let outcome = try await account.session.signOut(everywhere: everywhere)
        try forget(account)
        return outcome
    }
}
