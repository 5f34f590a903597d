// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// OCLC's sign-in for WorldCat's services: the service of document E, whose token requests are signed with a WSKey, and the one that
/// stands in its place today.
enum OCLCDefinition {
    /// `authn.sd00.worldcat.org`: tokens in a redirect's fragment for apps, HMAC for servers.
    static let text = """
        {
          "schemaVersion": 1,
          "id": "oclc",
          "title": "OCLC WorldCat",
          "environments": { "production": "https://authn.sd00.worldcat.org/oauth2" },
          "defaultEnvironment": "production",
          "modes": ["token", "code"],
          "modeGrants": { "token": "implicit", "code": "authorizationCode" },
          "resources": [
            "{base}", "{services}", "https://www.worldcat.org", "https://worldcat.org", "https://circ.sd00.worldcat.org",
            "https://{contextInstitutionId}.share.worldcat.org"
          ],
          "parameters": [
            { "name": "contextInstitutionId", "required": true,
              "description": "the institution whose data is asked for" },
            { "name": "authenticatingInstitutionId",
              "description": "the institution that signs the user in; without it OCLC asks the user" },
            { "name": "services", "description": "another address whose services the tokens are for" },
            { "name": "sendPrincipal", "value": "false",
              "description": "whether requests name the user in their Authorization header, as some services want" }
          ],
          "endpoints": { "authorize": "{base}/authorizeCode", "token": "{base}/accessToken" },
          "grants": {
            "implicit": {
              "authorizeParameters": {
                "authenticatingInstitutionId": "{authenticatingInstitutionId}",
                "contextInstitutionId": "{contextInstitutionId}"
              }
            },
            "authorizationCode": {
              "pkce": "none", "clientAuthentication": "signed", "publicClient": false, "placement": "query",
              "authorizeParameters": {
                "authenticatingInstitutionId": "{authenticatingInstitutionId}",
                "contextInstitutionId": "{contextInstitutionId}"
              },
              "parameters": {
                "authenticatingInstitutionId": "{authenticatingInstitutionId}",
                "contextInstitutionId": "{contextInstitutionId}"
              },
              "publicClientRemark": "OCLC gives codes to servers only: they redeem them with the WSKey's secret. Without it use the implicit grant"
            },
            "clientCredentials": {
              "clientAuthentication": "signed", "publicClient": false, "placement": "query",
              "parameters": {
                "authenticatingInstitutionId": "{authenticatingInstitutionId}",
                "contextInstitutionId": "{contextInstitutionId}"
              }
            },
            "refreshToken": {
              "clientAuthentication": "signed", "publicClient": false, "placement": "query",
              "publicClientRemark": "OCLC renews tokens for requests that are signed with the WSKey's secret only, which belongs on a server and has no place on a device: sign in again"
            }
          },
          "unsupported": {
            "password": "OCLC's passwords belong to libraries: users enter them at their library's own page",
            "assertion": "OCLC takes nobody else's word for a user",
            "deviceCode": "OCLC has no grant for devices without a browser: paste the address instead",
            "basic": "OCLC takes no password with each request",
            "cookie": "OCLC's web sessions are for browsers"
          },
          "scope": { "refresh": "refresh_token" },
          "redirects": [
            { "way": "scheme", "uri": "oclcApp://user_agent_flow" },
            { "way": "loopback", "path": "/callback" }
          ],
          "expiry": [
            { "field": "expires_in", "format": "seconds" }, { "field": "expires_at", "format": "date" }
          ],
          "refreshExpiry": [
            { "field": "refresh_token_expires_in", "format": "seconds" },
            { "field": "refresh_token_expires_at", "format": "date" }
          ],
          "keep": ["principalID", "principalIDNS"],
          "user": { "idFromTokens": "principalID" },
          "context": ["base", "clientID", "contextInstitutionId"],
          "links": { "help": "https://www.worldcat.org/config/" }
        }
        """

    /// `oauth.oclc.org`: plain OAuth 2.0 with the key and its secret as HTTP Basic, the institution in a scope.
    static let current = """
        {
          "schemaVersion": 1,
          "extends": "oclc",
          "id": "oclc-oauth",
          "title": "OCLC (oauth.oclc.org)",
          "modes": null,
          "modeGrants": null,
          "environments": { "production": "https://oauth.oclc.org" },
          "endpoints": { "authorize": "{base}/auth[/{authenticatingInstitutionId}]", "token": "{base}/token" },
          "client": { "authentication": "basic" },
          "scope": { "always": ["context:{contextInstitutionId}"] },
          "redirects": null,
          "grants": {
            "implicit": null,
            "authorizationCode": {
              "pkce": null, "clientAuthentication": null, "publicClient": null, "placement": null,
              "authorizeParameters": null, "parameters": null, "publicClientRemark": null
            },
            "clientCredentials": { "clientAuthentication": null, "placement": null, "parameters": null },
            "refreshToken": {
              "clientAuthentication": null, "placement": null,
              "publicClientRemark": "OCLC renews tokens for clients with a secret only, and the WSKey's belongs on a server: sign in again"
            }
          },
          "unsupported": {
            "implicit": "OCLC gives codes at oauth.oclc.org: use authorizationCode (the provider oclc has the implicit flow)"
          }
        }
        """
}
