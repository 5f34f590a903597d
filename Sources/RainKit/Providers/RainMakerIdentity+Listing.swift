// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker

extension RainMakerIdentity {
    /// What RainMaker's sign-in offers, told as for the other providers. It is spoken by ``RainMakerIdentity``, not by this profile.
    public static let listing: ProviderDefinition = {
        do throws(AccountError) {
            return try ProviderDefinition(parsing: Array(text.utf8), origin: "built in")
        } catch {
            preconditionFailure("the listing is not valid: \(error)")
        }
    }()

    private static let text = """
        {
          "schemaVersion": 1,
          "id": "rainmaker",
          "title": "ESP RainMaker",
          "grants": { "authorizationCode": {}, "password": {}, "refreshToken": {} },
          "unsupported": {
            "implicit": "RainMaker gives codes, which are safer, and needs no tokens in addresses",
            "deviceCode": "RainMaker has no sign-in on another device: sign in with a one-time code, or paste the address",
            "clientCredentials": "RainMaker's tokens are users', never a program's own",
            "assertion": "RainMaker takes no other provider's word directly: sign in at its page through google, github or apple",
            "basic": "RainMaker takes tokens, not a password with each request",
            "cookie": "RainMaker takes tokens, not cookies"
          },
          "links": {
            "terms": "https://rainmaker.espressif.com/docs/terms-of-use.html",
            "privacy": "https://rainmaker.espressif.com/docs/privacy-policy.html",
            "help": "https://rainmaker.espressif.com/docs/get-started.html"
          }
        }
        """
}
