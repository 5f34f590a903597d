// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

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
