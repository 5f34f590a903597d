// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainCore

extension RainMakerAccount {
    /// Creates an account that has to be confirmed: the cloud sends a code of six digits to the user.
    /// - Parameters:
    ///   - user: an e-mail address, or a telephone number with `+` and the country code.
    ///   - locale: the language of the message, such as `en`.
    /// - Throws: `accountExists` if somebody has it, `weakPassword` and `invalidUserName` before anything is sent.
    public func signUp(_ user: String, password: Secret, locale: String? = nil) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try RainMakerInput.check(newPassword: password)
        let body: JSONValue = ["user_name": .string(user), "password": .string(password.revealString())]
        try await service.call(RainMakerCall(.post, "user2", query: Self.query(locale: locale), body: body))
    }

    /// Has the code sent anew: to the cloud that is the sign-up once more, with the same password.
    public func resendSignUpCode(_ user: String, password: Secret, locale: String? = nil) async throws(AccountError) {
        try await signUp(user, password: password, locale: locale)
    }

    /// Confirms a new account with the code that was sent.
    /// - Parameter tags: what the account is marked with from the start, each `key:value`.
    /// - Throws: `wrongCode`, `codeExpired`, `alreadyVerified`.
    public func confirmSignUp(_ user: String, code: Secret, tags: [String] = []) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try RainMakerInput.check(code: code)
        try RainMakerInput.check(tags: tags)
        var body: [JSONValue.Member] = [
            .init("user_name", .string(user)), .init("verification_code", .string(code.revealString())),
        ]
        if !tags.isEmpty { body.append(.init("tags", Self.list(tags))) }
        try await service.call(RainMakerCall(.post, "user2", body: .object(body)))
    }
}
