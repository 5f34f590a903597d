// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainCore

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
