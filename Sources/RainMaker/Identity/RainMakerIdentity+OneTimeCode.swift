// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainCore

extension RainMakerIdentity {
    /// `login2` with a user name alone: has a code sent to the user.
    func requestOneTimeCode(user: String) async throws(AccountError) -> SignInChallenge {
        let reply: JSONValue
        do throws(AccountError) {
            reply = try await service.call(RainMakerCall(.post, "login2", body: ["user_name": .string(user)]))
        } catch {
            throw error.about(user)
        }
        guard let session = try secret(reply, "session") else { throw service.incomplete("session") }
        return SignInChallenge(userName: user, session: session)
    }

    /// `login2` with the code, after either first step.
    func answer(_ challenge: SignInChallenge, code: Secret) async throws(AccountError) -> Tokens {
        try RainMakerInput.check(code: code)
        let body: JSONValue = [
            "user_name": .string(challenge.userName), "verification_code": .string(code.revealString()),
            "session": .string(challenge.session.revealString()),
        ]
        return try tokens(ofSignIn: try await service.call(RainMakerCall(.post, "login2", body: body)))
    }
}
