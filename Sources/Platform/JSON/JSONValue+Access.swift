// SPDX-License-Identifier: Apache-2.0
extension JSONValue {
    /// The text, if this is a string.
    public var string: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    /// The number, if this is an integer in the text (`1`, not `1.0` and not `"1"`).
    public var integer: Int64? {
        if case .integer(let number) = self { return number }
        return nil
    }

    /// The number, if this is one of any kind; the nearest one, where it is too long.
    public var double: Double? {
        switch self {
        case .number(let number): number
        case .integer(let number): Double(number)
        case .longNumber(let number): number.double
        default: nil
        }
    }

    /// The truth value, if this is one.
    public var bool: Bool? {
        if case .bool(let flag) = self { return flag }
        return nil
    }

    /// The elements, if this is an array.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { return elements }
        return nil
    }

    /// The members in their order, if this is an object.
    public var members: [Member]? {
        if case .object(let members) = self { return members }
        return nil
    }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// The value, or nothing for a `null`, as most servers mean it. (A bare `nil` in its place would be a `null` again.)
    public var unlessNull: JSONValue? { isNull ? Optional.none : self }
}
