// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// Amazon Cognito user pools, which RainMaker's own deployments are built on, by their JSON calls.
enum CognitoDefinition {
    static let text = """
        {
          "schemaVersion": 1,
          "id": "cognito",
          "title": "Amazon Cognito",
          "environments": {},
          "parameters": [
            { "name": "domain", "description": "the user pool's sign-in domain, for browsers, as https://…" }
          ],
          "context": ["base", "clientID"],
          "endpoints": {
            "calls": "{base}/",
            "authorize": "{domain}/oauth2/authorize",
            "token": "{domain}/oauth2/token",
            "revoke": "{domain}/oauth2/revoke"
          },
          "scope": { "usual": ["openid", "email", "profile", "aws.cognito.signin.user.admin"] },
          "redirects": [{ "way": "loopback", "path": "/callback" }],
          "client": { "authentication": "none" },
          "grants": { "authorizationCode": { "nonce": true }, "password": {}, "refreshToken": {} },
          "unsupported": {
            "implicit": "Cognito gives codes, which are safer, and needs no tokens in addresses",
            "deviceCode": "Cognito has no sign-in on another device",
            "clientCredentials": "a user pool's client credentials are for services of its own, not for people's sessions",
            "assertion": "Cognito takes no other provider's word directly: sign in through the browser",
            "basic": "Cognito takes tokens, not a password with each request",
            "cookie": "Cognito takes tokens, not cookies"
          },
          "errors": [
            { "at": "__type", "error": "NotAuthorizedException", "says": "username or password", "reason": "invalid_credentials" },
            { "at": "__type", "error": "NotAuthorizedException", "reason": "invalid_grant" },
            { "at": "__type", "error": "UserNotFoundException", "reason": "unknown_user" },
            { "at": "__type", "error": "UserNotConfirmedException", "reason": "unverified_user" },
            { "at": "__type", "error": "PasswordResetRequiredException", "reason": "password_reset_required" },
            { "at": "__type", "error": "TooManyRequestsException", "reason": "rate_limited" },
            { "at": "__type", "error": "ResourceNotFoundException", "reason": "client_refused" },
            { "at": "__type", "error": "InternalErrorException", "reason": "server_fault" }
          ]
        }
        """
}
