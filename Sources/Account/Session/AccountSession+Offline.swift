// SPDX-License-Identifier: Apache-2.0
extension AccountSession {
    /// Whom the provider knew the user to be at sign-in, from the stored session: nothing is sent, so it works offline.
    public func storedUser() async throws(AccountError) -> UserInfo { try await keeper.stored().userInfo }
}

extension AccountSession {
    /// The stored session, tokens and all, for programs that it is handed to. Throws `wrongContext` for one of another address.
    package func savedSession() async throws(AccountError) -> SavedSession { try await keeper.stored() }
}

extension AccountSession {
    /// By how many seconds the provider's clock is ahead of this machine's, as far as the stored session knows.
    package func serverIsAhead() async throws(AccountError) -> Double? { try await keeper.stored().serverIsAhead }
}
