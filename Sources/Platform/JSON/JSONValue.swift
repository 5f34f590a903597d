// SPDX-License-Identifier: Apache-2.0

/// Any JSON value, its object members in their order.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number within the range of `Double`.
    case number(Double)
    /// A number beyond both, as it stands in its text, so that a document that is read, changed and written keeps it.
    case longNumber(LongNumber)
    /// A text.
    case string(String)
    /// The elements in their order.
    case array([JSONValue])
    /// The members in their order.
    case object([Member])

    /// The text of an integer of more than 64 bits, or of a number beyond the range of `Double`. Only what was read can be one.
    public struct LongNumber: Sendable, Hashable {
        /// As RFC 8259 has a number.
        public let text: String

        init(_ text: String) { self.text = text }

        /// The nearest number that there is of this type.
        public var double: Double {
            let number = Double(text) ?? 0
            let greatest = Double.greatestFiniteMagnitude
            return min(max(number, -greatest), greatest)
        }
    }

    /// A name and its value.
    public struct Member: Sendable, Hashable {
        /// The name, which may stand in an object more than once.
        public var name: String
        /// What stands behind the name.
        public var value: JSONValue
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The member of that name, if this is an object that has one (the last, where a name is repeated).
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }
}
