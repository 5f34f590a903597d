// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What an authorization server says about itself (RFC 8414, section 2; OpenID Connect Discovery 1.0, section 3). What it does not
/// say is nil or empty.
public struct ServerMetadata: Sendable, Equatable {
    /// The server's own name, a URL.
    public var issuer: String
    /// The sign-in page.
    public var authorizationEndpoint: String?
    /// Where codes and refresh tokens are redeemed.
    public var tokenEndpoint: String?
    /// Where the profile of who signed in is.
    public var userInfoEndpoint: String?
    /// Where a token is ended (RFC 7009).
    public var revocationEndpoint: String?
    /// Where a token is asked about (RFC 7662).
    public var introspectionEndpoint: String?
    /// Where a device without a browser begins (RFC 8628).
    public var deviceAuthorizationEndpoint: String?
    /// The page that signs out in the browser.
    public var endSessionEndpoint: String?
    /// Where clients register (RFC 7591).
    public var registrationEndpoint: String?
    /// The keys that sign id tokens (`jwks_uri`).
    public var keysURL: String?
    /// How id tokens are signed (`id_token_signing_alg_values_supported`), by the names of RFC 7518, section 3.1.
    public var identityTokenAlgorithms: [String]
    /// The rights that can be asked for.
    public var scopes: [String]
    /// What the sign-in page can give.
    public var responseTypes: [String]
    /// nil if the server does not say: then `authorization_code` and `implicit` are meant (RFC 8414, section 2).
    public var grantTypes: [GrantType]?
    /// The methods of PKCE.
    public var codeChallengeMethods: [CodeChallenge.Method]
    /// nil if the server does not say: then `client_secret_basic` is meant.
    public var tokenEndpointAuthenticationMethods: [String]?
    /// Answers carry `iss` (RFC 9207, section 3).
    public var namesIssuerInResponses: Bool

    /// What the metadata may cost its reader.
    public static let limits = JSONLimits(maximumBytes: 256 << 10, maximumDepth: 16, maximumValues: 5000)

    /// - Throws: `missing` without an issuer, `malformed` for what is no object, and for a member of the wrong type.
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

    /// Where the metadata of an issuer is: behind the issuer's path for OpenID Connect (Discovery 1.0, section 4.1), before it for
    /// other servers (RFC 8414, section 3.1).
    public static func url(of issuer: String, isOpenID: Bool = true) -> String {
        var issuer = issuer
        while issuer.hasSuffix("/") { issuer.removeLast() }
        if isOpenID { return issuer + "/.well-known/openid-configuration" }
        guard let scheme = issuer.ranges(of: "://").first,
            let path = issuer[scheme.upperBound...].firstIndex(of: "/")
        else { return issuer + "/.well-known/oauth-authorization-server" }
        return issuer[..<path] + "/.well-known/oauth-authorization-server" + issuer[path...]
    }

    /// Whether two issuers are equal but for slashes at the end. They are different issuers (RFC 8414, section 3.3), and easily confused.
    package static func differOnlyInSlash(_ one: String, _ other: String) -> Bool {
        func name(_ issuer: String) -> Substring {
            var rest = issuer[...]
            while rest.last == "/" { rest.removeLast() }
            return rest
        }
        return one != other && name(one) == name(other)
    }

    /// Whether this is the metadata that was asked for: the issuer must be the very one (RFC 8414, section 3.3).
    public func check(issuer expected: String) throws(OAuth2FormatError) {
        guard issuer == expected else {
            throw OAuth2FormatError(.mismatch, "the server metadata is another issuer's")
        }
    }
}
