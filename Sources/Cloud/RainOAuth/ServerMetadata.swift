import RainJSON

/// What an authorization server says about itself (RFC 8414, section 2; OpenID Connect Discovery 1.0, section 3). What it does not
/// say is nil or empty.
public struct ServerMetadata: Sendable, Equatable {
    public var issuer: String
    public var authorizationEndpoint: String?
    public var tokenEndpoint: String?
    public var userInfoEndpoint: String?
    public var revocationEndpoint: String?
    public var introspectionEndpoint: String?
    public var deviceAuthorizationEndpoint: String?
    public var endSessionEndpoint: String?
    public var registrationEndpoint: String?
    public var keysURL: String?
    public var scopes: [String]
    public var responseTypes: [String]
    /// nil if the server does not say: then `authorization_code` and `implicit` are meant (RFC 8414, section 2).
    public var grantTypes: [GrantType]?
    public var codeChallengeMethods: [CodeChallenge.Method]
    /// nil if the server does not say: then `client_secret_basic` is meant.
    public var tokenEndpointAuthenticationMethods: [String]?
    /// Answers carry `iss` (RFC 9207, section 3).
    public var namesIssuerInResponses: Bool

    public static let limits = JSONLimits(maximumBytes: 256 << 10, maximumDepth: 16, maximumValues: 5000)

    /// - Throws: `missing` without an issuer, `malformed` for what is no object.
    public init(_ json: JSONValue) throws(OAuth2FormatError) {
        guard json.members != nil else { throw OAuth2FormatError(.malformed, "server metadata is a JSON object") }
        guard let issuer = json["issuer"]?.string, !issuer.isEmpty else {
            throw OAuth2FormatError(.missing, "the server metadata has no issuer")
        }
        let text = { (name: String) in json[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
        let list = { (name: String) in json[name]?.array?.compactMap(\.string) }
        self.issuer = issuer
        authorizationEndpoint = text("authorization_endpoint")
        tokenEndpoint = text("token_endpoint")
        userInfoEndpoint = text("userinfo_endpoint")
        revocationEndpoint = text("revocation_endpoint")
        introspectionEndpoint = text("introspection_endpoint")
        deviceAuthorizationEndpoint = text("device_authorization_endpoint")
        endSessionEndpoint = text("end_session_endpoint")
        registrationEndpoint = text("registration_endpoint")
        keysURL = text("jwks_uri")
        scopes = list("scopes_supported") ?? []
        responseTypes = list("response_types_supported") ?? []
        grantTypes = list("grant_types_supported")?.map(GrantType.init)
        codeChallengeMethods = (list("code_challenge_methods_supported") ?? []).map(CodeChallenge.Method.init)
        tokenEndpointAuthenticationMethods = list("token_endpoint_auth_methods_supported")
        namesIssuerInResponses = json["authorization_response_iss_parameter_supported"]?.bool ?? false
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

    /// Whether this is the metadata that was asked for: the issuer must be the very one (RFC 8414, section 3.3).
    public func check(issuer expected: String) throws(OAuth2FormatError) {
        guard issuer == expected else {
            throw OAuth2FormatError(.mismatch, "the server metadata is another issuer's")
        }
    }
}
