// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainCore

extension RainMakerIdentity {
    /// `login2` with a password. Where a second step is switched on, the answer is not tokens but a session for it.
    func signIn(user: String, password: Secret) async throws(AccountError) -> Tokens {
        let body: JSONValue = ["user_name": .string(user), "password": .string(password.revealString())]
        let reply = try await service.call(RainMakerCall(.post, "login2", body: body))
        if reply["accesstoken"] == nil, let session = try secret(reply, "session") {
            var error = AccountError(
                .secondStepRequired,
                message: "the password is right, and the one-time code that was sent is wanted too")
            error.challenge = SignInChallenge(userName: user, session: session)
            throw error
        }
        return try tokens(ofSignIn: reply)
    }
}
