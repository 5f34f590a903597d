// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// Schibsted's accounts (SPiD), as of its OAuth 2.0 draft 11 and version 2 of its API.
enum SPiDDefinition {
    static let text = """
        {
          "schemaVersion": 1,
          "id": "spid",
          "title": "Schibsted SPiD",
          "environments": {
            "production": "https://login.schibsted.com",
            "norway": "https://payment.schibsted.no",
            "sweden": "https://payment.schibsted.se",
            "stage": "https://identity-pre.schibsted.com"
          },
          "defaultEnvironment": "production",
          "client": { "authentication": "post" },
          "parameters": [
            { "name": "redirectURI", "description": "sent with grants that need no redirect, for servers that ask for it" },
            { "name": "locale", "description": "the sign-in page's language, such as nb_NO" },
            { "name": "assertionForm", "value": "spid",
              "description": "spid, or rfc7515 for servers that take standard JSON Web Tokens only" },
            { "name": "sessionPath", "value": "/session",
              "description": "where codes become browser sessions; /auth/session in older documents" }
          ],
          "secrets": [
            { "name": "signSecret", "description": "signs third-party assertions, and checks signed answers" }
          ],
          "endpoints": {
            "authorize": "{base}/login",
            "token": "{base}/oauth/token",
            "introspect": "{base}/oauth/introspect",
            "user": "{base}/api/2/user/{user_id}",
            "me": "{base}/api/2/me",
            "exchange": "{base}/api/2/oauth/exchange",
            "logout": "{base}/api/2/logout",
            "logoutPage": "{base}/logout",
            "signUpAssertion": "{base}/api/2/signup_jwt",
            "attachAssertion": "{base}/api/2/user/attach_jwt"
          },
          "grants": {
            "authorizationCode": { "answersWithoutParameters": true, "authorizeParameters": { "locale": "{locale}" } },
            "implicit": { "authorizeParameters": { "locale": "{locale}" } },
            "password": { "parameters": { "redirect_uri": "{redirectURI}" } },
            "clientCredentials": { "parameters": { "redirect_uri": "{redirectURI}" } },
            "assertion": {},
            "refreshToken": {}
          },
          "unsupported": {
            "deviceCode": "SPiD has no grant for devices without a browser: paste the address, or use the password grant",
            "basic": "SPiD takes no password with each request: sign in for a token",
            "cookie": "SPiD's web sessions are for browsers: account web-session makes one"
          },
          "redirects": [
            { "way": "loopback", "path": "/callback" },
            { "way": "scheme", "uri": "spidmobile-{clientID}://login" }
          ],
          "fields": { "server_time": ["server_time"] },
          "expiry": [{ "field": "expires_in", "format": "seconds" }],
          "keep": ["user_id", "is_admin"],
          "user": {
            "id": ["userId", "id"], "userName": ["email", "displayName"], "name": ["displayName", "name.formatted"],
            "email": ["email"], "phoneNumber": ["phoneNumber"], "locale": ["locale"], "idFromTokens": "user_id"
          },
          "context": ["base", "clientID"],
          "links": {
            "terms": "{base}/about/terms", "privacy": "{base}/about/privacy-policy",
            "register": "{base}/flow/signup[?client_id={clientID}]", "forgot": "{base}/flow/password[?client_id={clientID}]"
          }
        }
        """
}
