// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// Any server with OpenID Connect that publishes a description of itself.
enum OIDCDefinition {
    static let text = """
        {
          "schemaVersion": 1,
          "id": "oidc",
          "title": "OpenID Connect",
          "parameters": [
            { "name": "issuer", "required": true, "description": "the server's issuer URL" },
            { "name": "idTokenAlgorithm",
              "description": "the algorithm of ID tokens that this client is registered for: RS256, ES256, PS256 or HS256" },
            { "name": "postLogoutRedirectURI",
              "description": "the registered address to which the server sends a browser after sign-out" }
          ],
          "postLogoutRedirect": "{postLogoutRedirectURI}",
          "client": { "identityTokenAlgorithm": "{idTokenAlgorithm}" },
          "issuer": "{issuer}",
          "discovery": "{issuer}/.well-known/openid-configuration",
          "resources": ["{issuer}"],
          "context": ["issuer", "clientID"],
          "scope": { "usual": ["openid", "profile", "email", "offline_access"] },
          "redirects": [{ "way": "loopback", "path": "/callback" }],
          "grants": {
            "authorizationCode": { "nonce": true },
            "implicit": { "nonce": true },
            "deviceCode": {},
            "password": {},
            "clientCredentials": { "publicClient": false },
            "assertion": {},
            "refreshToken": {}
          },
          "unsupported": {
            "basic": "OpenID Connect signs in by tokens, not by a password with each request",
            "cookie": "OpenID Connect signs in by tokens, not by cookies"
          }
        }
        """
}
