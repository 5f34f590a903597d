// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A server's refusal: in a redirect (RFC 6749, section 4.1.2.1) or from its token endpoint (section 5.2).
public struct OAuthError: Error, Sendable, Equatable {
    /// The server's name for the cause. Servers have their own names beside the standard ones.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request lacks a parameter, or has one twice.
        public static let invalidRequest = Code(rawValue: "invalid_request")
        /// The server does not know the client, or its proof is wrong.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// The code or the refresh token was used before, has expired, was revoked or belongs to another client.
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// The client may not use this grant.
        public static let unauthorizedClient = Code(rawValue: "unauthorized_client")
        /// The server does not support this grant.
        public static let unsupportedGrantType = Code(rawValue: "unsupported_grant_type")
        /// The server does not issue codes or tokens in this way.
        public static let unsupportedResponseType = Code(rawValue: "unsupported_response_type")
        /// A requested right is unknown, or not allowed.
        public static let invalidScope = Code(rawValue: "invalid_scope")
        /// The user, or the server on their behalf, refused.
        public static let accessDenied = Code(rawValue: "access_denied")
        /// The server failed.
        public static let serverError = Code(rawValue: "server_error")
        /// The server is overloaded or being maintained.
        public static let temporarilyUnavailable = Code(rawValue: "temporarily_unavailable")

        // RFC 8628, section 3.5.
        /// The user has not answered yet.
        public static let authorizationPending = Code(rawValue: "authorization_pending")
        /// The user has not answered yet, and the client asked too often. From now on it must wait five seconds longer between questions.
        public static let slowDown = Code(rawValue: "slow_down")
        /// The time to answer has ended.
        public static let expiredToken = Code(rawValue: "expired_token")

        // RFC 6750, section 3.1.
        /// The access token has expired, was revoked or is malformed.
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

    /// The name of the cause.
    public var code: Code
    /// The server's description for a developer. It is not safe for a terminal.
    public var description: String?
    /// The address of a page about the error.
    public var uri: String?

    /// The maximum length of each text, because texts come from outside. Longer texts are cut.
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

    /// The JSON that a token endpoint answers.
    public var json: JSONValue {
        .object(members.map { JSONValue.Member($0.name, .string($0.value)) })
    }

    /// The parameters that a redirect carries.
    public var parameters: ParameterList {
        var list = ParameterList()
        // Three different names cannot collide.
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

/// The reason why bytes are not the expected OAuth 2.0 message. It never quotes them, because they may contain a code or a token.
public struct OAuth2FormatError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong with the message.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case tooLarge, malformed, duplicate, missing, conflicting, mismatch }
        private let value: Value
        public var description: String { value.rawValue }

        /// The message has too many bytes or parameters.
        public static let tooLarge = Code(value: .tooLarge)
        /// The message is not in the form that the RFC requires.
        public static let malformed = Code(value: .malformed)
        /// A parameter appears twice, which RFC 6749, section 3.1, forbids: readers could choose different values.
        public static let duplicate = Code(value: .duplicate)
        /// The message lacks its main value.
        public static let missing = Code(value: .missing)
        /// The message contradicts itself, for example with a code and an error.
        public static let conflicting = Code(value: .conflicting)
        /// The message is well-formed, but answers another request: another state, issuer or redirect URI.
        public static let mismatch = Code(value: .mismatch)
    }

    /// The kind of fault.
    public var code: Code
    /// A description for people. It quotes no value.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }
}

extension OAuth2FormatError {
    /// Creates the error for a member of the wrong type, which the message names.
    init(_ error: JSONError) { self.init(.malformed, error.message) }
}
