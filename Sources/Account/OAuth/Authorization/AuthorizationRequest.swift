// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What a browser is sent to a sign-in page with (RFC 6749, sections 4.1.1 and 4.2.1).
public struct AuthorizationRequest: Sendable, Equatable {
    /// What the sign-in page is asked to give (`response_type`).
    public struct ResponseType: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A code, to be redeemed at the token endpoint.
        public static let code = ResponseType(rawValue: "code")
        /// The implicit flow: tokens in the fragment, for servers that have nothing better.
        public static let token = ResponseType(rawValue: "token")
    }

    /// The page's URL. A query of its own is kept.
    public var endpoint: String
    /// Who asks, as registered with the provider.
    public var clientID: String
    /// A code, unless the server has nothing better than tokens.
    public var responseType = ResponseType.code
    /// Where the answer goes; nil for the one that is registered.
    public var redirectURI: RedirectURI?
    /// The rights that are asked for; empty for the server's default.
    public var scope: [String] = []
    /// Comes back unchanged with the answer.
    public var state: State?
    /// Ties the code to whoever asked for it (PKCE).
    public var codeChallenge: CodeChallenge?
    /// Comes back inside the id token (OpenID Connect Core 1.0, section 3.1.2.1).
    public var nonce: String?
    /// What this server wants besides, in order.
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

    /// The URL to open. It holds no secret but ``state``, which is worthless once the answer has come.
    public func url() throws(OAuth2FormatError) -> String {
        guard !endpoint.utf8.contains(UInt8(ascii: "#")), endpoint.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw OAuth2FormatError(.malformed, "an authorization endpoint has no fragment and no spaces")
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
