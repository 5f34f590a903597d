// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

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
