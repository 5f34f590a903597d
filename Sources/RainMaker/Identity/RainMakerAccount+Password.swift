// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainCore

extension RainMakerAccount {
    /// Has a code sent to a user who forgot the password.
    /// - Throws: `unknownUser`.
    public func requestPasswordReset(_ user: String, locale: String? = nil) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try await service.call(
            RainMakerCall(
                .put, "forgotpassword2", query: Self.query(locale: locale), body: ["user_name": .string(user)]))
    }

    /// Sets a new password with the code that was sent. Sessions that exist go on.
    /// - Throws: `wrongCode`, `codeExpired`, and `weakPassword` before anything is sent.
    public func resetPassword(_ user: String, to newPassword: Secret, code: Secret) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try RainMakerInput.check(code: code)
        try RainMakerInput.check(newPassword: newPassword)
        let body: JSONValue = [
            "user_name": .string(user), "password": .string(newPassword.revealString()),
            "verification_code": .string(code.revealString()),
        ]
        try await service.call(RainMakerCall(.put, "forgotpassword2", body: body))
    }

    /// Changes the signed-in user's password. The cloud ends all of the user's sessions with that, so the one here is dropped:
    /// sign in again.
    /// - Throws: `invalidCredentials` if `password` is not the current one, and `weakPassword` before anything is sent.
    public func changePassword(from password: Secret, to newPassword: Secret) async throws(AccountError) {
        guard !password.isEmpty else {
            throw AccountError(.invalidInput, message: "the current password is missing")
        }
        try RainMakerInput.check(newPassword: newPassword)
        let body: JSONValue = [
            "password": .string(password.revealString()), "newpassword": .string(newPassword.revealString()),
        ]
        let user = try await session.userID()
        try await call(RainMakerCall(.put, "password2", body: body))
        try await session.forget(user)
    }
}
