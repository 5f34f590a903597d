// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto

/// A request to a sign-in page, which the browser opens (RFC 6749, sections 4.1.1 and 4.2.1).
public struct AuthorizationRequest: Sendable, Equatable {
    /// The kind of answer that the sign-in page should give (`response_type`).
    public struct ResponseType: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A code, which is redeemed at the token endpoint.
        public static let code = ResponseType(rawValue: "code")
        /// The implicit flow: tokens in the fragment, for servers without a better flow.
        public static let token = ResponseType(rawValue: "token")
    }

    /// The page's URL. Its own query is kept.
    public var endpoint: String
    /// The client's id, as registered with the provider.
    public var clientID: String
    /// A code, unless the server only issues tokens directly.
    public var responseType = ResponseType.code
    /// The address for the answer; nil for the registered one.
    public var redirectURI: RedirectURI?
    /// The requested rights; empty for the server's default.
    public var scope: [String] = []
    /// A value that the answer must repeat.
    public var state: State?
    /// Binds the code to the client that requested it (PKCE).
    public var codeChallenge: CodeChallenge?
    /// A value that the ID token must repeat (OpenID Connect Core 1.0, section 3.1.2.1).
    public var nonce: String?
    /// Other parameters for this server, in order.
    public var more: [(name: String, value: String)] = []

    public init(endpoint: String, clientID: String, redirectURI: RedirectURI? = nil) {
        self.endpoint = endpoint
        self.clientID = clientID
        self.redirectURI = redirectURI
    }

    public static func == (left: Self, right: Self) -> Bool {
        (try? left.parameters()) == (try? right.parameters()) && left.endpoint == right.endpoint
    }

    /// The parameters in the order in which the RFCs introduce them. Throws `duplicate` if ``more`` names one of them again.
    public func parameters() throws(OAuth2FormatError) -> ParameterList {
        var list = ParameterList()
        try list.append("response_type", responseType.rawValue)
        try list.append("client_id", clientID)
        if let redirectURI { try list.append("redirect_uri", redirectURI.text) }
        if !scope.isEmpty { try list.append("scope", scope.joined(separator: " ")) }
        if let state { try list.append("state", state.secret.revealString()) }
        if let codeChallenge {
            try list.append("code_challenge", codeChallenge.text)
            try list.append("code_challenge_method", codeChallenge.method.rawValue)
        }
        if let nonce { try list.append("nonce", nonce) }
        for (name, value) in more { try list.append(name, value) }
        return list
    }

    /// Returns the URL to open. Its only secret is ``state``, which is worthless after the answer.
    public func url() throws(OAuth2FormatError) -> String {
        guard !endpoint.utf8.contains(UInt8(ascii: "#")), endpoint.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw OAuth2FormatError(.malformed, "an authorization endpoint must not have a fragment or spaces")
        }
        let separator: String
        if let query = endpoint.utf8.firstIndex(of: UInt8(ascii: "?")) {
            let own = endpoint.utf8[endpoint.utf8.index(after: query)...]
            var all = try ParameterList(parsing: own)
            let parameters = try parameters()
            for name in parameters.names { try all.append(name, "") }
            separator = own.isEmpty || own.last == UInt8(ascii: "&") ? "" : "&"
        } else {
            separator = "?"
        }
        return endpoint + separator + (try parameters().query)
    }
}

/// The address to which a sign-in page sends the browser at the end.
///
/// Two are the same only if every character is. The exception is the port of a loopback address, which a native application chooses when it
/// runs (RFC 8252, section 7.3).
public struct RedirectURI: Sendable, Hashable {
    /// The URI as it is registered and sent.
    public let text: String
    /// The maximum length in bytes.
    public static let maximumLength = 2048

    /// Throws `malformed` unless the URI is absolute and without fragment (RFC 6749, section 3.1.2), in visible ASCII. It must not contain
    /// a user name or a backslash, because two parsers could read these differently.
    public init(_ text: String) throws(OAuth2FormatError) {
        guard (1...Self.maximumLength).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !#"#\"<>^`{|}"#.utf8.contains($0) }),
            let scheme = Self.scheme(of: text)
        else { throw OAuth2FormatError(.malformed, "a redirect URI must be absolute, without a fragment") }
        if scheme == "http" || scheme == "https" {
            let rest = text.utf8.dropFirst(scheme.utf8.count)
            let authority = rest.dropFirst(3).prefix { !"/?".utf8.contains($0) }
            guard rest.starts(with: "://".utf8), !authority.isEmpty, !authority.contains(UInt8(ascii: "@")) else {
                throw OAuth2FormatError(.malformed, "a redirect URI must have a host, and no user name")
            }
        }
        self.text = text
    }

    /// Returns whether a server with the registered URI `registered` may send a browser here.
    public func matches(registered: RedirectURI) -> Bool {
        if text == registered.text { return true }
        guard let own = withoutLoopbackPort, let other = registered.withoutLoopbackPort else { return false }
        return own == other
    }

    /// Returns the parameters that the server added to this URI, in its query and its fragment; nil if `url` is another address.
    public func answer(in url: some StringProtocol) -> (query: Substring, fragment: Substring)? {
        let url = Substring(url)
        let hash = url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
        let fragment = hash == url.endIndex ? url[hash...] : url[url.utf8.index(after: hash)...]
        let beforeFragment = url[..<hash]
        guard beforeFragment.utf8.starts(with: text.utf8) else { return nil }
        let rest = beforeFragment.utf8.dropFirst(text.utf8.count)
        guard let first = rest.first else { return (url[hash..<hash], fragment) }
        let separator = text.utf8.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?")
        guard first == separator else { return nil }
        return (Substring(rest.dropFirst()), fragment)
    }

    private static func scheme(of text: String) -> String? {
        guard let end = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = text.utf8[..<end]
        guard let first = scheme.first, (0x61...0x7A).contains(first | 0x20),
            scheme.allSatisfy({ $0.isASCIILetterOrDigit || "+-.".utf8.contains($0) }),
            text.utf8.index(after: end) < text.utf8.endIndex
        else { return nil }
        return Substring(scheme).lowercased()
    }

    /// The scheme, host, path and query of a loopback address, without its port; nil for other addresses. `localhost` does not count,
    /// because a name may lead elsewhere.
    private var withoutLoopbackPort: String? {
        for host in ["http://127.0.0.1", "http://[::1]"] where text.hasPrefix(host) {
            let rest = text.dropFirst(host.count)
            guard rest.first == ":" else { return rest.isEmpty || "/?".contains(rest.first!) ? host + rest : nil }
            let port = rest.dropFirst().prefix { $0 != "/" && $0 != "?" }
            guard let number = UInt16(port), number > 0, port.utf8.first != UInt8(ascii: "+") else { return nil }
            return host + rest.dropFirst(1 + port.count)
        }
        return nil
    }
}

/// A value that the sign-in page repeats, so that a forged answer can be recognized (RFC 6749, section 10.12).
public struct State: Sendable, Equatable {
    /// The characters of the state.
    public let secret: Secret

    /// The maximum length in bytes. Servers refuse longer values, or cut them.
    public static let maximumLength = 1024

    /// Creates a state of 256 random bits, as 43 characters.
    public init(random: inout some RandomSource) {
        secret = Secret(Base64.urlEncoded(random.bytes(32)))
    }

    /// Creates a state from visible ASCII of at most ``maximumLength`` bytes. Returns nil for anything else.
    public init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count), text.utf8.allSatisfy(isVisible) else { return nil }
        secret = Secret(text)
    }
}

/// The secret which proves that a code is redeemed by the client that requested it (RFC 7636).
///
/// ```swift
/// let verifier = CodeVerifier(random: &random)
/// request.codeChallenge = verifier.challenge(OpenSSLHashes.self)
/// ```
public struct CodeVerifier: Sendable, Equatable {
    /// The verifier's characters.
    public let secret: Secret

    /// Creates a verifier of 256 random bits, as 43 characters (RFC 7636, section 7.1).
    public init(random: inout some RandomSource) {
        secret = Secret(Base64.urlEncoded(random.bytes(32)))
    }

    /// Creates a verifier from an existing secret. Returns nil unless it is 43 to 128 unreserved characters (section 4.1).
    public init?(_ secret: Secret) {
        let isValid = secret.reveal { bytes in
            (43...128).contains(bytes.count)
                && bytes.allSatisfy { $0.isASCIILetterOrDigit || "-._~".utf8.contains($0) }
        }
        guard isValid else { return nil }
        self.secret = secret
    }

    /// Returns the challenge for the authorization request, by the only useful method: S256 (section 4.2).
    public func challenge(_ hashes: (some Hashes).Type) -> CodeChallenge {
        CodeChallenge(
            method: .s256,
            text: Base64.urlText(hashes.sha256(secret.revealBytes())))
    }
}

/// The form of a ``CodeVerifier`` in the authorization request. It is not a secret.
public struct CodeChallenge: Sendable, Equatable {
    /// How the challenge is computed from the verifier.
    public struct Method: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// SHA-256 of the verifier.
        public static let s256 = Method(rawValue: "S256")
    }

    /// How the challenge is computed from the verifier.
    public var method: Method
    /// The text in the request.
    public var text: String

    public init(method: Method, text: String) {
        self.method = method
        self.text = text
    }
}

/// The answer of a sign-in page, in the URL to which it sent the browser (RFC 6749, sections 4.1.2 and 4.2.2).
public struct AuthorizationResponse: Sendable, Equatable {
    /// The result of a sign-in page.
    public enum Outcome: Sendable, Equatable {
        /// A code, to be redeemed at the token endpoint once and soon.
        case code(Secret)
        /// The implicit flow's tokens.
        case tokens(TokenResponse)
        /// The user or the server refused.
        case refused(OAuthError)
    }

    /// The result of the page.
    public var outcome: Outcome
    /// The state of the request.
    public var state: State?
    /// The issuer of the answer (RFC 9207).
    public var issuer: String?

    public init(_ outcome: Outcome, state: State? = nil, issuer: String? = nil) {
        self.outcome = outcome
        self.state = state
        self.issuer = issuer
    }

    /// Reads the answer from a URL that the browser opened: from its query, its fragment or both, because servers differ.
    ///
    /// Throws `mismatch` for a URL other than `redirectURI`, `missing` if it contains no answer, `duplicate` and `conflicting` if it could
    /// be read in two ways.
    public init(url: some StringProtocol, to redirectURI: RedirectURI) throws(OAuth2FormatError) {
        guard let (query, fragment) = redirectURI.answer(in: url) else {
            throw OAuth2FormatError(.mismatch, "the address is not the redirect URI")
        }
        try self.init(query: query.utf8, fragment: fragment.utf8)
    }

    /// Reads the answer from the parts after `?` and after `#`.
    public init(query: some Collection<UInt8>, fragment: some Collection<UInt8> = [UInt8]())
        throws(OAuth2FormatError)
    {
        var parameters = try ParameterList(parsing: query)
        let more = try ParameterList(parsing: fragment)
        for name in more.names { try parameters.append(name, more[name] ?? "") }
        try self.init(parameters)
    }

    /// Reads an answer from parameters. Throws `conflicting` if they contradict each other, `missing` if they contain no answer.
    public init(_ parameters: ParameterList) throws(OAuth2FormatError) {
        let code = parameters["code"]
        let error = OAuthError(parameters)
        let token = parameters["access_token"]
        guard [code != nil, error != nil, token != nil].filter({ $0 }).count <= 1 else {
            throw OAuth2FormatError(
                .conflicting, "the answer contradicts itself: it has more than one of code, error and access_token")
        }
        if let code {
            guard !code.isEmpty, code.utf8.allSatisfy(isVisible) else {
                throw OAuth2FormatError(.malformed, "the code is empty or not visible ASCII")
            }
            outcome = .code(Secret(code))
        } else if let error {
            outcome = .refused(error)
        } else if token != nil {
            outcome = .tokens(try TokenResponse(parameters))
        } else {
            throw OAuth2FormatError(.missing, "the answer has neither a code nor an error")
        }
        if let text = parameters["state"] {
            guard let state = State(text) else {
                throw OAuth2FormatError(.malformed, "the state is not visible ASCII, or too long")
            }
            self.state = state
        } else {
            state = nil
        }
        issuer = parameters["iss"]
    }

    /// Checks that this answers the request with `state`.
    ///
    /// - Parameters:
    ///   - issuer: the issuer that the request went to, if known. An answer that names another one is not for us (RFC 9207, section 2.4).
    ///   - requiresIssuer: for servers that state that they always name themselves (RFC 9207, section 3). An answer without a name is not
    ///     theirs.
    ///   - mayLackState: for relays that do not forward the state.
    public func check(
        state expected: State, issuer known: String?, requiresIssuer: Bool = false, mayLackState: Bool = false
    ) throws(OAuth2FormatError) {
        guard state == expected || state == nil && mayLackState else {
            throw OAuth2FormatError(
                .mismatch, state == nil ? "the answer has no state" : "the state is not the one that was sent")
        }
        if let known, let issuer, issuer != known {
            let isSlash = ServerMetadata.differOnlyInSlash(issuer, known)
            throw OAuth2FormatError(
                .mismatch,
                isSlash
                    ? "the answer comes from another issuer, whose name differs only in the \"/\" at the end"
                    : "the answer comes from another issuer: \(presentable(issuer)), not \(known)")
        }
        guard issuer != nil || known == nil || !requiresIssuer else {
            throw OAuth2FormatError(.mismatch, "the answer does not name its issuer")
        }
    }

    /// Returns the parameters as a server adds them to the redirect URI.
    public func parameters() throws(OAuth2FormatError) -> ParameterList {
        var list: ParameterList
        switch outcome {
        case .code(let code):
            list = ParameterList()
            try list.append("code", code.revealString())
        case .tokens(let tokens): list = try tokens.parameters()
        case .refused(let error): list = error.parameters
        }
        if let state { try list.append("state", state.secret.revealString()) }
        if let issuer { try list.append("iss", issuer) }
        return list
    }
}
