// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// An authorization server's description of itself (RFC 8414, section 2; OpenID Connect Discovery 1.0, section 3). Missing values are nil
/// or empty.
public struct ServerMetadata: Sendable, Equatable {
    /// The name of the server, which is a URL.
    public var issuer: String
    /// The sign-in page.
    public var authorizationEndpoint: String?
    /// The endpoint that exchanges codes and refresh tokens for tokens.
    public var tokenEndpoint: String?
    /// The endpoint with the profile of the signed-in user.
    public var userInfoEndpoint: String?
    /// The endpoint that revokes tokens (RFC 7009).
    public var revocationEndpoint: String?
    /// The endpoint that gives information about a token (RFC 7662).
    public var introspectionEndpoint: String?
    /// The endpoint where a device without a browser begins to sign in (RFC 8628).
    public var deviceAuthorizationEndpoint: String?
    /// The page that signs out in the browser.
    public var endSessionEndpoint: String?
    /// The endpoint where clients register (RFC 7591).
    public var registrationEndpoint: String?
    /// The address of the keys that sign ID tokens (`jwks_uri`).
    public var keysURL: String?
    /// The signature algorithms of ID tokens (`id_token_signing_alg_values_supported`), by the names of RFC 7518, section 3.1.
    public var identityTokenAlgorithms: [String]
    /// The rights that a client can request.
    public var scopes: [String]
    /// The kinds of answer that the sign-in page can give.
    public var responseTypes: [String]
    /// The grants; nil if the server does not say. Then they are `authorization_code` and `implicit` (RFC 8414, section 2).
    public var grantTypes: [GrantType]?
    /// The methods of PKCE.
    public var codeChallengeMethods: [CodeChallenge.Method]
    /// The methods of client authentication; nil if the server does not say. Then it is `client_secret_basic`.
    public var tokenEndpointAuthenticationMethods: [String]?
    /// Whether answers contain `iss` (RFC 9207, section 3).
    public var namesIssuerInResponses: Bool

    /// Limits for the metadata.
    public static let limits = JSONLimits(maximumBytes: 256 << 10, maximumDepth: 16, maximumValues: 5000)

    /// - Throws: `missing` without an issuer, `malformed` for JSON that is not an object, and for a member of the wrong type.
    public init(_ json: JSONValue) throws(OAuth2FormatError) {
        do throws(JSONError) {
            try self.init(JSONMembers(json))
        } catch {
            throw OAuth2FormatError(error)
        }
        guard !issuer.isEmpty else { throw OAuth2FormatError(.missing, "the server metadata has no issuer") }
    }

    private init(_ members: JSONMembers) throws(JSONError) {
        func text(_ name: String) throws(JSONError) -> String? {
            guard let text = try members.text(name), !text.isEmpty else { return nil }
            return text
        }
        issuer = try members.text("issuer") ?? ""
        authorizationEndpoint = try text("authorization_endpoint")
        tokenEndpoint = try text("token_endpoint")
        userInfoEndpoint = try text("userinfo_endpoint")
        revocationEndpoint = try text("revocation_endpoint")
        introspectionEndpoint = try text("introspection_endpoint")
        deviceAuthorizationEndpoint = try text("device_authorization_endpoint")
        endSessionEndpoint = try text("end_session_endpoint")
        registrationEndpoint = try text("registration_endpoint")
        keysURL = try text("jwks_uri")
        identityTokenAlgorithms = try members.texts("id_token_signing_alg_values_supported") ?? []
        scopes = try members.texts("scopes_supported") ?? []
        responseTypes = try members.texts("response_types_supported") ?? []
        grantTypes = try members.texts("grant_types_supported")?.map(GrantType.init)
        codeChallengeMethods = (try members.texts("code_challenge_methods_supported") ?? []).map(
            CodeChallenge.Method.init)
        tokenEndpointAuthenticationMethods = try members.texts("token_endpoint_auth_methods_supported")
        namesIssuerInResponses = try members.flag("authorization_response_iss_parameter_supported") ?? false
    }

    /// Returns the address of an issuer's metadata. For OpenID Connect the well-known part follows the issuer's path (Discovery 1.0,
    /// section 4.1). For other servers it comes before the path (RFC 8414, section 3.1).
    public static func url(of issuer: String, isOpenID: Bool = true) -> String {
        var issuer = issuer
        while issuer.hasSuffix("/") { issuer.removeLast() }
        if isOpenID { return issuer + "/.well-known/openid-configuration" }
        guard let scheme = issuer.ranges(of: "://").first,
            let path = issuer[scheme.upperBound...].firstIndex(of: "/")
        else { return issuer + "/.well-known/oauth-authorization-server" }
        return issuer[..<path] + "/.well-known/oauth-authorization-server" + issuer[path...]
    }

    /// Returns whether two issuers differ only in slashes at the end. They are different issuers (RFC 8414, section 3.3), but easily
    /// confused.
    package static func differOnlyInSlash(_ one: String, _ other: String) -> Bool {
        func name(_ issuer: String) -> Substring {
            var rest = issuer[...]
            while rest.last == "/" { rest.removeLast() }
            return rest
        }
        return one != other && name(one) == name(other)
    }

    /// Checks that this is the requested metadata: the issuer must be exactly the same (RFC 8414, section 3.3).
    public func check(issuer expected: String) throws(OAuth2FormatError) {
        guard issuer == expected else {
            throw OAuth2FormatError(.mismatch, "the server metadata belongs to another issuer")
        }
    }
}
