// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// RainMaker Neo: accounts with rotating refresh tokens.
enum NeoDefinition {
    static let text = """
        {
          "schemaVersion": 1,
          "id": "neo",
          "title": "RainMaker Neo",
          "environments": {},
          "resources": ["{base}"],
          "context": ["base"],
          "client": { "authentication": "none" },
          "endpoints": {
            "authorize": "{base}/oauth2/authorize",
            "token": "{base}/oauth2/token",
            "signIn": "{base}/v1/user/auth/token",
            "refresh": "{base}/v1/user/auth/token/refresh",
            "signOut": "{base}/v1/user/auth/signout",
            "user": "{base}/v1/users/me"
          },
          "scope": { "usual": ["openid", "email", "profile"] },
          "redirects": [{ "way": "loopback", "path": "/callback" }],
          "grants": {
            "authorizationCode": { "nonce": false },
            "password": {},
            "refreshToken": {}
          },
          "user": { "id": ["user_id", "sub"], "userName": ["email", "phone_number", "user_id"] },
          "unsupported": {
            "implicit": "Neo gives codes, which are safer, and needs no tokens in addresses",
            "deviceCode": "Neo has no sign-in on another device",
            "clientCredentials": "Neo's tokens are users', never a program's own",
            "assertion": "Neo takes no other provider's word directly: sign in through the browser",
            "basic": "Neo takes tokens, not a password with each request",
            "cookie": "Neo takes tokens, not cookies"
          }
        }
        """
}
