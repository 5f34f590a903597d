// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainCore

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
