// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not the JSON that was expected. It names positions and member names, never values: those may be secrets.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong with the text or the value.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case tooLarge, tooDeep, truncated, malformed, markup, invalidUnicode, numberOutOfRange
            case missing, typeMismatch, unencodable
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// More bytes or more values than ``JSONLimits`` allow.
        public static let tooLarge = Code(value: .tooLarge)
        /// Arrays and objects nested deeper than ``JSONLimits`` allow.
        public static let tooDeep = Code(value: .tooDeep)
        /// The text ends in the middle of a value, or is empty.
        public static let truncated = Code(value: .truncated)
        /// Not JSON as RFC 8259 has it.
        public static let malformed = Code(value: .malformed)
        /// HTML or XML: most likely a proxy or a sign-in page answered instead of the service.
        public static let markup = Code(value: .markup)
        /// Bytes that are not UTF-8, a lone surrogate, or a member's name with U+0000 in it.
        public static let invalidUnicode = Code(value: .invalidUnicode)
        /// An integer that needs more than 64 bits, or a number beyond the range of `Double`.
        public static let numberOutOfRange = Code(value: .numberOutOfRange)
        /// A member that the model requires is absent.
        public static let missing = Code(value: .missing)
        /// A value of another type than the model's.
        public static let typeMismatch = Code(value: .typeMismatch)
        /// A value that JSON cannot express, such as an infinite number.
        public static let unencodable = Code(value: .unencodable)
    }

    /// What is wrong.
    public var code: Code
    /// What is wrong, for a person; it quotes no value.
    public var message: String
    /// Where in the text, in bytes from its beginning; nil when the fault is in a model, not in the text.
    public var offset: Int?

    public init(_ code: Code, _ message: String, offset: Int? = nil) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    public var description: String { message + (offset.map { $0 == 0 ? "" : ", at byte \($0)" } ?? "") }
}
