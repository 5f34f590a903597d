// SPDX-License-Identifier: Apache-2.0
import RainCore

extension AccountSession {
    /// How far a sign-out came. Here the session is over in any case.
    public enum SignOutOutcome: Sendable {
        /// The provider has ended the session too.
        case complete
        /// The provider has no way to end all of it. The report says which tokens are still good there, and until when.
        case partly(SignOutReport)
        /// The provider could not be told: to it the session lives until its tokens expire.
        case onlyHere(AccountError)
    }

    /// Ends the session here and at the provider; `everywhere` ends all of the user's sessions on all devices.
    ///
    /// No other process can renew the session meanwhile and so bring it back.
    public func signOut(everywhere: Bool = false) async throws(AccountError) -> SignOutOutcome {
        let provider = provider
        return try await keeper.end { tokens async throws(AccountError) in
            try await provider.signOut(tokens, everywhere: everywhere)
        }
    }

    /// Removes the user's stored session, which the provider has ended, without telling it. One of another user stays.
    package func forget(_ user: UserID) async throws(AccountError) {
        let session: SavedSession
        do throws(AccountError) {
            session = try await keeper.stored()
        } catch {
            if error.code == .notSignedIn { return }
            throw error
        }
        guard session.userID == user else { return }
        try await keeper.remove(session)
    }
}
