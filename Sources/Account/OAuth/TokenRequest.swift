// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// A request to a token endpoint (RFC 6749, sections 4.1.3, 4.3.2, 4.4.2 and 6; RFC 7523; RFC 8628).
public struct TokenRequest: Sendable, Equatable {
    /// A name and a value, which may be a secret.
    public struct Field: Sendable, Equatable {
        /// The parameter's name.
        public var name: String
        /// The value, not encoded yet.
        public var value: Secret

        public init(_ name: String, _ value: Secret) {
            self.name = name
            self.value = value
        }

        public init(_ name: String, _ value: String) { self.init(name, Secret(value)) }
    }

    /// The value of the request's `Content-Type` header.
    public static let contentType = "application/x-www-form-urlencoded"

    /// The kind of grant that is exchanged for tokens.
    public var grantType: GrantType
    /// The fields of the grant, in order, without the client's own fields.
    public var fields: [Field]

    public init(_ grantType: GrantType, _ fields: [Field] = []) {
        self.grantType = grantType
        self.fields = fields
    }

    /// Redeems a code. The redirect URI must be the one of the authorization request, and the verifier must match its challenge.
    public static func authorizationCode(
        _ code: Secret, redirectURI: String?, codeVerifier: CodeVerifier? = nil
    ) -> TokenRequest {
        var request = TokenRequest(.authorizationCode, [Field("code", code)])
        if let redirectURI { request.fields.append(Field("redirect_uri", redirectURI)) }
        if let codeVerifier { request.fields.append(Field("code_verifier", codeVerifier.secret)) }
        return request
    }

    /// Renews tokens (section 6). Without a scope they keep their rights.
    public static func refreshToken(_ token: Secret, scope: [String] = []) -> TokenRequest {
        var request = TokenRequest(.refreshToken, [Field("refresh_token", token)])
        request.ask(for: scope)
        return request
    }

    /// Sends the user's name and password, for servers without a better grant (RFC 6749, section 4.3.2).
    public static func password(user: String, password: Secret, scope: [String] = []) -> TokenRequest {
        var request = TokenRequest(.password, [Field("username", user), Field("password", password)])
        request.ask(for: scope)
        return request
    }

    /// Requests tokens for the client itself (section 4.4.2).
    public static func clientCredentials(scope: [String] = []) -> TokenRequest {
        var request = TokenRequest(.clientCredentials)
        request.ask(for: scope)
        return request
    }

    /// Sends a signed assertion (RFC 7523, section 2.1).
    public static func jwtBearer(_ assertion: Secret, scope: [String] = []) -> TokenRequest {
        var request = TokenRequest(.jwtBearer, [Field("assertion", assertion)])
        request.ask(for: scope)
        return request
    }

    /// Asks whether the user has answered (RFC 8628, section 3.4).
    public static func deviceCode(_ code: Secret) -> TokenRequest {
        TokenRequest(.deviceCode, [Field("device_code", code)])
    }

    private mutating func ask(for scope: [String]) {
        if !scope.isEmpty { fields.append(Field("scope", scope.joined(separator: " "))) }
    }

    /// The whole request as a form.
    public var form: FormRequest { FormRequest([Field("grant_type", grantType.rawValue)] + fields) }

    /// Returns the body to send. ``ClientAuthentication/authorizationHeader`` is the header that may belong to it.
    public func body(for client: ClientAuthentication) -> Secret { form.body(for: client) }
}

/// The kind of grant that is exchanged for tokens (`grant_type`).
public struct GrantType: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A code from a sign-in page (RFC 6749, section 4.1).
    public static let authorizationCode = GrantType(rawValue: "authorization_code")
    /// A refresh token (section 6).
    public static let refreshToken = GrantType(rawValue: "refresh_token")
    /// The user's name and password (section 4.3).
    public static let password = GrantType(rawValue: "password")
    /// The client's own credentials (section 4.4).
    public static let clientCredentials = GrantType(rawValue: "client_credentials")
    /// A signed assertion (RFC 7523, section 2.1).
    public static let jwtBearer = GrantType(rawValue: "urn:ietf:params:oauth:grant-type:jwt-bearer")
    /// A device code (RFC 8628, section 3.4).
    public static let deviceCode = GrantType(rawValue: "urn:ietf:params:oauth:grant-type:device_code")
}

/// How a client identifies itself to a token endpoint (RFC 6749, section 2.3). Servers differ, even from one grant to the next.
public enum ClientAuthentication: Sendable, Equatable {
    /// A public client, such as an installed program: it names itself and proves nothing.
    case none(clientID: String)
    /// Id and secret in the `Authorization` header (`client_secret_basic`).
    case basic(clientID: String, secret: Secret)
    /// Id and secret in the body (`client_secret_post`).
    case post(clientID: String, secret: Secret)
    /// A proof over the whole request, which its sender adds, such as an HMAC in the `Authorization` header. This type adds nothing.
    case signed(clientID: String)

    /// The value of the `Authorization` header, if there is one. Both halves are form-encoded first (section 2.3.1).
    public var authorizationHeader: Secret? {
        guard case .basic(let clientID, let secret) = self else { return nil }
        let pair =
            FormEncoding.encoded(clientID.utf8) + [UInt8(ascii: ":")] + FormEncoding.encoded(secret.revealBytes())
        return Secret("Basic ".utf8 + Base64.encoded(pair))
    }

    /// The fields that it adds to the body.
    var fields: [TokenRequest.Field] {
        switch self {
        case .none(let clientID): [.init("client_id", clientID)]
        case .basic, .signed: []
        case .post(let clientID, let secret): [.init("client_id", clientID), .init("client_secret", secret)]
        }
    }
}

/// The answer of a token endpoint (RFC 6749, section 5.1). The reader is as lenient as real servers require.
public struct TokenResponse: Sendable, Equatable {
    /// The token that authorizes requests.
    public var accessToken: Secret
    /// The type; `Bearer` if the server does not say.
    public var tokenType: String
    /// The lifetime in seconds from now; nil if the server gives none, or gives an impossible one.
    public var expiresIn: Double?
    /// The token for renewals; nil if there is none, or the old one remains valid.
    public var refreshToken: Secret?
    /// The granted rights; nil if the server does not say. Then they are the requested ones.
    public var scope: [String]?
    /// Names the signed-in user (OpenID Connect).
    public var identityToken: Secret?
    /// The other members of the answer, in the server's order. They may contain secrets.
    public var more: [JSONValue.Member]

    /// Limits for the answer.
    public static let limits = JSONLimits(maximumBytes: 256 << 10, maximumDepth: 16, maximumValues: 2000)

    public init(
        accessToken: Secret, tokenType: String = "Bearer", expiresIn: Double? = nil, refreshToken: Secret? = nil,
        scope: [String]? = nil, identityToken: Secret? = nil, more: [JSONValue.Member] = []
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresIn = expiresIn
        self.refreshToken = refreshToken
        self.scope = scope
        self.identityToken = identityToken
        self.more = more
    }

    /// Whether requests carry the access token as RFC 6750 defines. A client must not use a token of another type (RFC 6749, section 7.1).
    public var isBearer: Bool { tokenType.lowercased() == "bearer" }

    /// Throws `missing` without an access token, `malformed` for a token that does not fit into a header line, and for a member of the
    /// wrong type.
    public init(_ json: JSONValue) throws(OAuth2FormatError) {
        guard let members = json.members else {
            throw OAuth2FormatError(.malformed, "the token response is not a JSON object")
        }
        let tokens: [String?]
        do throws(JSONError) {
            let own = try JSONMembers(json)
            tokens = [try own.text("access_token"), try own.text("refresh_token"), try own.text("id_token")]
            let type = try own.text("token_type") ?? ""
            tokenType = type.isEmpty ? "Bearer" : type
            expiresIn = Self.seconds(try own.lenientNumber("expires_in"))
            scope = try Self.scope(own)
        } catch {
            throw OAuth2FormatError(error)
        }
        guard let access = try Self.token(tokens[0]) else {
            throw OAuth2FormatError(.missing, "the token response has no access_token")
        }
        accessToken = access
        refreshToken = try Self.token(tokens[1])
        identityToken = try Self.token(tokens[2])
        var seen: Set<String> = Set(Self.known)
        // Of a repeated name the last value counts, as usual in JSON.
        more = members.reversed().filter { seen.insert($0.name).inserted }.reversed()
    }

    private static let known = ["access_token", "token_type", "expires_in", "refresh_token", "scope", "id_token"]

    /// Reads the implicit flow's response from a fragment (section 4.2.2).
    init(_ parameters: ParameterList) throws(OAuth2FormatError) {
        try self.init(
            .object(
                parameters.names.filter { $0 != "state" && $0 != "iss" }.map { name in
                    JSONValue.Member(name, .string(parameters[name] ?? ""))
                }))
    }

    private static func token(_ text: String?) throws(OAuth2FormatError) -> Secret? {
        guard let text, !text.isEmpty else { return nil }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw OAuth2FormatError(.malformed, "a token is not visible ASCII")
        }
        return Secret(text)
    }

    /// Returns the number, or nil if it cannot be a lifetime.
    private static func seconds(_ number: Double?) -> Double? {
        number.flatMap { (0..<1e12).contains($0) ? $0 : nil }
    }

    /// Reads a text as in the RFC, or a list of texts, which some servers send.
    private static func scope(_ members: JSONMembers) throws(JSONError) -> [String]? {
        if members.value["scope"]?.array != nil { return try members.texts("scope") }
        return try members.text("scope").map { $0.split(separator: " ").map(String.init) }
    }

    /// The JSON that a token endpoint answers.
    public var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("access_token", .string(accessToken.revealString())), .init("token_type", .string(tokenType)),
        ]
        if let expiresIn {
            let whole = Int64(exactly: expiresIn)
            members.append(.init("expires_in", whole.map(JSONValue.integer) ?? .number(expiresIn)))
        }
        if let refreshToken { members.append(.init("refresh_token", .string(refreshToken.revealString()))) }
        if let scope { members.append(.init("scope", .string(scope.joined(separator: " ")))) }
        if let identityToken { members.append(.init("id_token", .string(identityToken.revealString()))) }
        return .object(members + more)
    }

    /// Returns the parameters that a fragment carries. Members that are not texts or numbers are omitted.
    func parameters() throws(OAuth2FormatError) -> ParameterList {
        var list = ParameterList()
        for member in json.members ?? [] {
            switch member.value {
            case .string(let text): try list.append(member.name, text)
            case .integer(let number): try list.append(member.name, "\(number)")
            case .number(let number): try list.append(member.name, "\(number)")
            case .longNumber(let number): try list.append(member.name, number.text)
            default: break
            }
        }
        return list
    }
}
