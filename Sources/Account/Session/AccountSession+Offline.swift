extension AccountSession {
    /// Whom the provider knew the user to be at sign-in, from the stored session: nothing is sent, so it works offline.
    public func storedProfile() async throws(AccountError) -> Profile { try await keeper.stored().profile }
}
