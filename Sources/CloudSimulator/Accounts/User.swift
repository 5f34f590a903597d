/// One account.
struct User: Codable, Sendable, Equatable {
    /// What clients call `user_id`: a UUID.
    var id: String
    /// The e-mail address or phone number that it signs in with; compared exactly, as the cloud does.
    var userName: String
    /// Nil for those whom only an identity provider or a code signs in.
    var password: PasswordHash?
    /// The identity provider that vouched first, such as `GitHub`.
    var provider: String?
    var name: String?
    /// Whether a password alone does not sign in: a code is asked for, too.
    var needsSecondStep = false

    /// Longest accepted user name, in bytes.
    static let maximumName = 256

    func accepts(password given: String) -> Bool { password?.matches(given) ?? false }
}
