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
    /// - Parameter store: where the session is to be kept. That is tried before anybody is asked for anything.
    @discardableResult
    public func signIn(
        with method: SignInMethod, keeping store: StoreChoice = .automatic
    ) async throws(AccountError) -> UserInfo {
        try await signIn(with: method, to: try await newAccount(user: method.user, in: store))
    }

    /// Signs in to an account of ``newAccount(user:in:)``, which the client uses from then on.
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
