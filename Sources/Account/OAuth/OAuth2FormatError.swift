// SPDX-License-Identifier: Apache-2.0
import RainJSON

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
