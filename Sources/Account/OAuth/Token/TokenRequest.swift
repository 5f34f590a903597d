// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What a token endpoint is asked (RFC 6749, sections 4.1.3, 4.3.2, 4.4.2 and 6; RFC 7523; RFC 8628).
public struct TokenRequest: Sendable, Equatable {
    /// A name and a value, which may be a secret.
    public struct Field: Sendable, Equatable {
        /// The parameter's name.
        public var name: String
        /// Not encoded yet.
        public var value: Secret

        public init(_ name: String, _ value: Secret) {
            self.name = name
            self.value = value
        }

        public init(_ name: String, _ value: String) { self.init(name, Secret(value)) }
    }

    /// What the request's `Content-Type` header says.
    public static let contentType = "application/x-www-form-urlencoded"

    /// What is traded for tokens.
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

    /// Renews tokens (section 6); without a scope, with the rights they had.
    public static func refreshToken(_ token: Secret, scope: [String] = []) -> TokenRequest {
        var request = TokenRequest(.refreshToken, [Field("refresh_token", token)])
        request.ask(for: scope)
        return request
    }

    /// The user's own name and password, for servers that have nothing better (RFC 6749, section 4.3.2).
    public static func password(user: String, password: Secret, scope: [String] = []) -> TokenRequest {
        var request = TokenRequest(.password, [Field("username", user), Field("password", password)])
        request.ask(for: scope)
        return request
    }

    /// In the client's own name (section 4.4.2).
    public static func clientCredentials(scope: [String] = []) -> TokenRequest {
        var request = TokenRequest(.clientCredentials)
        request.ask(for: scope)
        return request
    }

    /// By a signed assertion (RFC 7523, section 2.1).
    public static func jwtBearer(_ assertion: Secret, scope: [String] = []) -> TokenRequest {
        var request = TokenRequest(.jwtBearer, [Field("assertion", assertion)])
        request.ask(for: scope)
        return request
    }

    /// Asks whether the person has answered by now (RFC 8628, section 3.4).
    public static func deviceCode(_ code: Secret) -> TokenRequest {
        TokenRequest(.deviceCode, [Field("device_code", code)])
    }

    private mutating func ask(for scope: [String]) {
        if !scope.isEmpty { fields.append(Field("scope", scope.joined(separator: " "))) }
    }

    /// All of it as a form.
    public var form: FormRequest { FormRequest([Field("grant_type", grantType.rawValue)] + fields) }

    /// The body to send; the header that may belong to it is ``ClientAuthentication/authorizationHeader``.
    public func body(for client: ClientAuthentication) -> Secret { form.body(for: client) }
}
