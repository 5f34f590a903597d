import RainAccount
import RainHTTP

extension RainMakerIdentity {
    /// A new account without a name, where the deployment has guests. What it is called is in its profile.
    func signInAsGuest() async throws(AccountError) -> Tokens {
        try tokens(ofSignIn: try await service.call(RainMakerCall(.post, "user/guest")))
    }
}
