/// One account.
struct User: Codable, Sendable, Equatable {
    /// What clients call `user_id`: a UUID.
    var id: String
    /// The e-mail address or phone number that it signs in with; compared exactly, as the cloud does.
    var userName: String
    var password: PasswordHash
    var name: String?
    /// Whether a password alone does not sign in: a code is asked for, too.
    var needsSecondStep = false
}
