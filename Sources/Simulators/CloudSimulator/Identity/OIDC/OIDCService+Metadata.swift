// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension OIDCService {
    /// What discovery says (OpenID Connect Discovery 1.0, 3).
    func metadata(_ base: String) -> JSONValue {
        let clientAuthentication: JSONValue = ["none", "client_secret_basic", "client_secret_post"]
        let metadata: JSONValue = [
            "issuer": .string(base), "authorization_endpoint": .string(base + "/authorize"),
            "token_endpoint": .string(base + "/token"), "userinfo_endpoint": .string(base + "/userinfo"),
            "jwks_uri": .string(base + "/jwks"), "revocation_endpoint": .string(base + "/revoke"),
            "introspection_endpoint": .string(base + "/introspect"),
            "device_authorization_endpoint": .string(base + "/device_authorization"),
            "end_session_endpoint": .string(base + "/logout"),
            "scopes_supported": .array(Self.scopes.sorted().map { .string($0) }), "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": [
                "authorization_code", "refresh_token", "client_credentials", .string(Self.deviceGrant),
            ],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [.string(signer.algorithm.rawValue)],
            "token_endpoint_auth_methods_supported": clientAuthentication,
            "revocation_endpoint_auth_methods_supported": clientAuthentication,
            "introspection_endpoint_auth_methods_supported": clientAuthentication,
            "code_challenge_methods_supported": ["S256"], "authorization_response_iss_parameter_supported": true,
            "claims_supported": [
                "sub", "name", "given_name", "family_name", "preferred_username", "email", "email_verified",
            ],
        ]
        let offered = [
            "jwks_uri": offers.keys, "revocation_endpoint": offers.revocation,
            "end_session_endpoint": offers.endSession,
        ]
        return .object((metadata.members ?? []).filter { offered[$0.name] != false })
    }
}
