// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainCore

extension RainMakerAccount {
    /// Begins to turn the signed-in guest into an account with a name: the cloud sends a code there.
    /// - Parameter user: an e-mail address.
    public func requestGuestConversion(to user: String) async throws(AccountError) {
        try RainMakerInput.check(userName: user)
        try await call(RainMakerCall(.post, "user/guest/conversion/initiate", body: ["user_name": .string(user)]))
    }

    /// Turns the guest into that account, nodes and data included, and signs in to it.
    ///
    /// If signing in fails the guest is converted nevertheless, and the password will do later.
    /// - Parameter other: the session to sign in, where it is not to take the place of the guest's.
    public func confirmGuestConversion(
        to user: String, password: Secret, code: Secret, signingIn other: AccountSession? = nil
    ) async throws(AccountError) -> UserInfo {
        try RainMakerInput.check(userName: user)
        try RainMakerInput.check(code: code)
        try RainMakerInput.check(newPassword: password)
        let body: JSONValue = [
            "user_name": .string(user), "verification_code": .string(code.revealString()),
            "password": .string(password.revealString()),
        ]
        try await call(RainMakerCall(.post, "user/guest/conversion/verify", body: body))
        do throws(AccountError) {
            return try await (other ?? session).signIn(.password(user: user, password: password))
        } catch {
            var error = error
            error.message = "the guest is now \(user), but signing in failed: \(error.message)"
            throw error
        }
    }
}
