// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// Liferay Portal from 6.1 on: passwords with each request, a browser's session, or OAuth 2.0 (from 7.1 on).
enum LiferayDefinition {
    static let text = """
        {
          "schemaVersion": 1,
          "id": "liferay",
          "title": "Liferay Portal",
          "modes": ["basic", "cookie", "oauth2Redirect", "oauth2UsernameAndPassword"],
          "modeGrants": { "oauth2Redirect": "authorizationCode", "oauth2UsernameAndPassword": "password" },
          "parameters": [
            { "name": "companyId", "value": "0", "description": "the portal instance; 0 is the server context's" },
            { "name": "contextCompanyId",
              "description": "the server context's portal instance; that of the user's first site if unset" },
            { "name": "groupId", "value": "10184", "description": "the site within the portal" },
            { "name": "loginBy",
              "description": "email, screenName or userId, as the portal is set up; by the name's form if unset" },
            { "name": "serverVersion", "description": "61, 62, 70, 71, 72, 73 or 74; found out if unset, from 62 on" },
            { "name": "shouldHandleCookieExpiration", "value": "true",
              "description": "whether cookies are renewed by signing in again" },
            { "name": "cookieExpirationTime", "value": "900", "description": "how long cookies last, in seconds" }
          ],
          "endpoints": {
            "authorize": "{base}/o/oauth2/authorize",
            "token": "{base}/o/oauth2/token",
            "revoke": "{base}/o/oauth2/revoke",
            "introspect": "{base}/o/oauth2/introspect"
          },
          "grants": {
            "authorizationCode": {},
            "password": {
              "publicClient": false,
              "publicClientRemark": "Liferay's oauth2UsernameAndPassword wants the client's secret"
            },
            "clientCredentials": { "publicClient": false },
            "basic": {},
            "cookie": {},
            "refreshToken": {}
          },
          "unsupported": {
            "implicit": "Liferay's OAuth 2.0 has no implicit flow: use oauth2Redirect",
            "deviceCode": "Liferay has no grant for devices without a browser: paste the address instead",
            "assertion": "Liferay takes nobody else's word for a user"
          },
          "client": {},
          "redirects": [{ "way": "loopback", "path": "/callback", "exactPort": true }],
          "expiry": [{ "field": "expires_in", "format": "seconds" }],
          "context": ["base", "clientID"],
          "links": { "forgot": "{base}/web/guest/home?p_p_id=com_liferay_login_web_portlet_LoginPortlet" }
        }
        """
}
