import Vocabulary

/// What a token endpoint is asked (RFC 6749, sections 4.1.3, 4.3.2, 4.4.2 and 6).
public struct TokenRequest: Sendable, Equatable {
    public struct Field: Sendable, Equatable {
        public var name: String
        public var value: Secret

        public init(_ name: String, _ value: Secret) {
            self.name = name
            self.value = value
        }

        public init(_ name: String, _ value: String) { self.init(name, Secret(value)) }
    }

    public static let contentType = "application/x-www-form-urlencoded"

    public var grantType: GrantType
    /// What the grant needs, in order, without the client's own fields.
    public var fields: [Field]

    public init(_ grantType: GrantType, _ fields: [Field] = []) {
        self.grantType = grantType
        self.fields = fields
    }

    /// Redeems a code. The redirect URI is the one that the authorization request named, and the verifier the one whose
    /// challenge it showed.
    public static func authorizationCode(
        _ code: Secret, redirectURI: String?, codeVerifier: CodeVerifier? = nil
    ) -> TokenRequest {
        var request = TokenRequest(.authorizationCode, [Field("code", code)])
        if let redirectURI { request.fields.append(Field("redirect_uri", redirectURI)) }
        if let codeVerifier { request.fields.append(Field("code_verifier", codeVerifier.secret)) }
        return request
    }

    public static func refreshToken(_ token: Secret, scope: [String] = []) -> TokenRequest {
        var request = TokenRequest(.refreshToken, [Field("refresh_token", token)])
        if !scope.isEmpty { request.fields.append(Field("scope", scope.joined(separator: " "))) }
        return request
    }

    /// The body to send; the header that may belong to it is ``ClientAuthentication/authorizationHeader``.
    public func body(for client: ClientAuthentication) -> Secret {
        var bytes: [UInt8] = []
        for field in [Field("grant_type", grantType.rawValue)] + fields + client.fields {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            bytes += FormEncoding.encoded(field.name.utf8)
            bytes.append(UInt8(ascii: "="))
            field.value.reveal { bytes += FormEncoding.encoded($0) }
        }
        defer { for index in bytes.indices { bytes[index] = 0 } }
        return Secret(bytes)
    }
}
