// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

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

/// What is traded for tokens (`grant_type`).
public struct GrantType: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A code from a sign-in page (RFC 6749, section 4.1).
    public static let authorizationCode = GrantType(rawValue: "authorization_code")
    /// A refresh token (section 6).
    public static let refreshToken = GrantType(rawValue: "refresh_token")
    /// The user's name and password (section 4.3).
    public static let password = GrantType(rawValue: "password")
    /// The client's own right (section 4.4).
    public static let clientCredentials = GrantType(rawValue: "client_credentials")
    /// RFC 7523, section 2.1.
    public static let jwtBearer = GrantType(rawValue: "urn:ietf:params:oauth:grant-type:jwt-bearer")
    /// RFC 8628, section 3.4.
    public static let deviceCode = GrantType(rawValue: "urn:ietf:params:oauth:grant-type:device_code")
}

/// How a client says who it is to a token endpoint (RFC 6749, section 2.3). Servers differ, even from one grant to the next.
public enum ClientAuthentication: Sendable, Equatable {
    /// A public client: it names itself and proves nothing. That is what an installed program is.
    case none(clientID: String)
    /// Id and secret in the `Authorization` header (`client_secret_basic`).
    case basic(clientID: String, secret: Secret)
    /// Id and secret in the body (`client_secret_post`).
    case post(clientID: String, secret: Secret)
    /// By something over the whole request that its sender adds, such as an HMAC in the `Authorization` header: nothing is added here.
    case signed(clientID: String)

    /// The client's id, whatever proves it.
    public var clientID: String {
        switch self {
        case .none(let clientID), .basic(let clientID, _), .post(let clientID, _), .signed(let clientID): clientID
        }
    }

    /// The value of the `Authorization` header, where there is one: both halves are form-encoded first (section 2.3.1).
    public var authorizationHeader: Secret? {
        guard case .basic(let clientID, let secret) = self else { return nil }
        let pair =
            FormEncoding.encoded(clientID.utf8) + [UInt8(ascii: ":")] + FormEncoding.encoded(secret.revealBytes())
        return Secret("Basic ".utf8 + Base64.encoded(pair))
    }

    /// What it adds to the body.
    var fields: [TokenRequest.Field] {
        switch self {
        case .none(let clientID): [.init("client_id", clientID)]
        case .basic, .signed: []
        case .post(let clientID, let secret): [.init("client_id", clientID), .init("client_secret", secret)]
        }
    }
}

/// What a token endpoint gives (RFC 6749, section 5.1), read with the leniency that real servers ask for.
public struct TokenResponse: Sendable, Equatable {
    /// What requests are authorized with.
    public var accessToken: Secret
    /// `Bearer` where the server does not say.
    public var tokenType: String
    /// In seconds from now; nil if the server does not say, or says what cannot be a lifetime.
    public var expiresIn: Double?
    /// What the tokens are renewed with; nil where there is none, or the old one stays.
    public var refreshToken: Secret?
    /// nil where the server does not say: then it is what was asked for.
    public var scope: [String]?
    /// Who signed in (OpenID Connect).
    public var identityToken: Secret?
    /// What else the server said, in its order. May hold secrets of its own.
    public var more: [JSONValue.Member]

    /// What the answer may cost its reader.
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

    /// Whether requests carry the access token as RFC 6750 says. A client must not use a token of another type (RFC 6749, section 7.1).
    public var isBearer: Bool { tokenType.lowercased() == "bearer" }

    /// Throws `missing` without an access token, `malformed` if a token could not stand in a header line, and for a member of the wrong type.
    public init(_ json: JSONValue) throws(OAuth2FormatError) {
        guard let members = json.members else {
            throw OAuth2FormatError(.malformed, "a token response is a JSON object")
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
        // Of a repeated name the last counts, as everywhere in JSON.
        more = members.reversed().filter { seen.insert($0.name).inserted }.reversed()
    }

    private static let known = ["access_token", "token_type", "expires_in", "refresh_token", "scope", "id_token"]

    /// The implicit flow's response, in a fragment (section 4.2.2).
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

    /// A lifetime that cannot be one tells nothing.
    private static func seconds(_ number: Double?) -> Double? {
        number.flatMap { (0..<1e12).contains($0) ? $0 : nil }
    }

    /// A text as the RFC has it, or a list of texts, as some servers write it.
    private static func scope(_ members: JSONMembers) throws(JSONError) -> [String]? {
        if members.value["scope"]?.array != nil { return try members.texts("scope") }
        return try members.text("scope").map { $0.split(separator: " ").map(String.init) }
    }

    /// As a token endpoint answers it.
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

    /// As a fragment carries it. What is no text or number is left out.
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
