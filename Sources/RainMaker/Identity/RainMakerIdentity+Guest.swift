// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP

extension RainMakerIdentity {
    /// A new account without a name, where the deployment has guests. The cloud gives it a name.
    func signInAsGuest() async throws(AccountError) -> Tokens {
        try tokens(ofSignIn: try await service.call(RainMakerCall(.post, "user/guest")))
    }
}
