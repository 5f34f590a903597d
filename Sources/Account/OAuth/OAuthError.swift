// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What a server said no with: in a redirect (RFC 6749, section 4.1.2.1) or from its token endpoint (section 5.2).
public struct OAuthError: Error, Sendable, Equatable {
    /// The cause as the server names it; servers have their own beside the standard ones.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request lacks something, or has something twice.
        public static let invalidRequest = Code(rawValue: "invalid_request")
        /// The server does not know the client, or its proof is wrong.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// The code or the refresh token is used up, expired, revoked or somebody else's.
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// The client may not use this grant.
        public static let unauthorizedClient = Code(rawValue: "unauthorized_client")
        /// The server does not have this grant.
        public static let unsupportedGrantType = Code(rawValue: "unsupported_grant_type")
        /// The server does not give codes or tokens this way.
        public static let unsupportedResponseType = Code(rawValue: "unsupported_response_type")
        /// A right that was asked for is unknown, or more than may be had.
        public static let invalidScope = Code(rawValue: "invalid_scope")
        /// The user, or the server for them, said no.
        public static let accessDenied = Code(rawValue: "access_denied")
        /// The server failed.
        public static let serverError = Code(rawValue: "server_error")
        /// The server is overloaded or being maintained.
        public static let temporarilyUnavailable = Code(rawValue: "temporarily_unavailable")

        // RFC 8628, section 3.5.
        /// The person has not answered yet.
        public static let authorizationPending = Code(rawValue: "authorization_pending")
        /// Not answered yet either, and asked too often: five seconds more between questions from now on.
        public static let slowDown = Code(rawValue: "slow_down")
        /// The time to answer is over.
        public static let expiredToken = Code(rawValue: "expired_token")

        // RFC 6750, section 3.1.
        /// The access token is expired, revoked or malformed.
        public static let invalidToken = Code(rawValue: "invalid_token")
        /// The token lacks a right that the request needs.
        public static let insufficientScope = Code(rawValue: "insufficient_scope")

        // RFC 7009, section 2.2.1.
        /// The server does not revoke tokens of that kind.
        public static let unsupportedTokenType = Code(rawValue: "unsupported_token_type")

        // OpenID Connect Core 1.0, section 3.1.2.6.
        /// The user has to sign in.
        public static let loginRequired = Code(rawValue: "login_required")
        /// The user has to agree.
        public static let consentRequired = Code(rawValue: "consent_required")
    }

    /// The cause.
    public var code: Code
    /// The server's words for a developer; not made safe for a terminal.
    public var description: String?
    /// A page about the error.
    public var uri: String?

    /// Longer texts are cut: nobody reads them, and they come from outside.
    public static let maximumLength = 1000

    public init(_ code: Code, description: String? = nil, uri: String? = nil) {
        self.code = code
        self.description = description
        self.uri = uri
    }

    /// The error in a token endpoint's JSON; nil if it has none.
    public init?(_ json: JSONValue) {
        guard let error = json["error"]?.string else { return nil }
        self.init(error: error, description: json["error_description"]?.string, uri: json["error_uri"]?.string)
    }

    /// The error in a redirect; nil if it has none.
    public init?(_ parameters: ParameterList) {
        guard let error = parameters["error"] else { return nil }
        self.init(error: error, description: parameters["error_description"], uri: parameters["error_uri"])
    }

    private init?(error: String, description: String?, uri: String?) {
        let error = Self.bounded(error)
        guard !error.isEmpty else { return nil }
        self.init(Code(rawValue: error), description: description.map(Self.bounded), uri: uri.map(Self.bounded))
    }

    private static func bounded(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(maximumLength)))
    }

    /// As a token endpoint answers it.
    public var json: JSONValue {
        .object(members.map { JSONValue.Member($0.name, .string($0.value)) })
    }

    /// As a redirect carries it.
    public var parameters: ParameterList {
        var list = ParameterList()
        // Three different names never collide.
        for (name, value) in members { try? list.append(name, value) }
        return list
    }

    private var members: [(name: String, value: String)] {
        var members = [(name: "error", value: code.rawValue)]
        if let description { members.append(("error_description", description)) }
        if let uri { members.append(("error_uri", uri)) }
        return members
    }
}

/// Why bytes are not the OAuth 2.0 message that was expected. It never quotes them: they may hold a code or a token.
public struct OAuth2FormatError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong with the message.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case tooLarge, malformed, duplicate, missing, conflicting, mismatch }
        private let value: Value
        public var description: String { value.rawValue }

        /// More bytes or more parameters than any such message has.
        public static let tooLarge = Code(value: .tooLarge)
        /// Not in the form that the RFC prescribes.
        public static let malformed = Code(value: .malformed)
        /// A parameter that stands there twice (RFC 6749, section 3.1, forbids it): which one counts would depend on the reader.
        public static let duplicate = Code(value: .duplicate)
        /// What the message is about is not in it.
        public static let missing = Code(value: .missing)
        /// It says two things at once, such as a code and an error.
        public static let conflicting = Code(value: .conflicting)
        /// It is well-formed and answers something else: another state, issuer or redirect URI.
        public static let mismatch = Code(value: .mismatch)
    }

    /// What is wrong.
    public var code: Code
    /// What is wrong, for a person; it quotes no value.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }
}

extension OAuth2FormatError {
    /// For a member of the wrong type, which the message names.
    init(_ error: JSONError) { self.init(.malformed, error.message) }
}
