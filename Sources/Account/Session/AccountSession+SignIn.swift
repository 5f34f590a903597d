// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainIO

extension AccountSession {
    /// Signs in and stores the session in the place of any earlier one.
    ///
    /// The store is checked before the provider is asked. The user comes from the service, or from the id token's claims while the
    /// service is not available. A session that was stored before is reported first (``AccountEvent/loaded(_:)``). A sign-in that fails or
    /// is cancelled after that is signed out at the provider, within five seconds.
    public func signIn(_ credentials: SignInCredentials) async throws(AccountError) -> UserInfo {
        do throws(AccountError) {
            return try await begin(credentials)
        } catch {
            let error = error.remarking(on: credentials)
            // A second step is no failure: the sign-in goes on with it.
            if error.code != .secondStepRequired { keeper.events.happened(.signInFailed(error)) }
            throw error
        }
    }

    private func begin(_ credentials: SignInCredentials) async throws(AccountError) -> UserInfo {
        try await keeper.probeStore()
        await keeper.reportStored()
        let tokens = try await provider.signIn(credentials)
        do throws(AccountError) {
            return try await begin(tokens)
        } catch {
            await abandon(tokens)
            throw error
        }
    }

    private func begin(_ tokens: Tokens) async throws(AccountError) -> UserInfo {
        let user: UserInfo
        do throws(AccountError) {
            user = try await provider.user(tokens)
        } catch {
            guard error.isTransient, let claimed = provider.user(claimedBy: tokens) else { throw error }
            logger.debug(
                "no user from the service, the id token's claims are used", metadata: ["cause": "\(error.code)"])
            user = claimed
        }
        try await keeper.begin(
            SavedSession(
                provider: provider.name, userID: user.userID, userName: user.userName, tokens: tokens,
                attributes: user.attributes, context: provider.context))
        logger.debug("signed in", metadata: ["provider": "\(provider.name)"])
        return user
    }

    /// How long the provider has to answer the sign-out of a sign-in that failed.
    static let signOutDeadline = Duration.seconds(5)

    /// Signs out at the provider, which has given tokens that nobody keeps.
    private func abandon(_ tokens: Tokens) async {
        let (provider, timer) = (provider, keeper.timer)
        // Not a child of the caller's task: a cancelled task cannot send. It is awaited, and ends by its deadline.
        await Task {
            let outcome = await withDeadline(Self.signOutDeadline, sleep: { try await timer.sleep(for: $0) }) {
                () async throws(AccountError) in try await provider.signOut(tokens, everywhere: false)
            }
            if case .success? = outcome { return }
            logger.debug("a failed sign-in was not signed out at the provider")
        }.value
    }
}

extension AccountError {
    /// A refused password with what may be wrong with it, such as a blank at its end.
    fileprivate func remarking(on credentials: SignInCredentials) -> AccountError {
        guard code == .invalidCredentials, !isFromGateway, case .password(_, let password) = credentials,
            let remark = password.remark(as: "password")
        else { return self }
        var error = self
        error.message = message.because(of: remark)
        return error
    }
}
