// SPDX-License-Identifier: Apache-2.0

/// Reads the members of an object whose values affect decisions.
///
/// A member of an unexpected type is an error that names the member. It never counts as absent: otherwise its meaning, such as how a
/// connection is protected, would be lost.
package struct JSONMembers: Sendable {
    /// The object itself.
    package let value: JSONValue
    private let path: String
    private let takesNull: Bool

    /// - Parameters:
    ///   - path: the object's place in its document, for errors; empty for the document itself.
    ///   - takesNull: whether a `null` member counts as absent, as most servers mean it.
    /// - Throws: `typeMismatch` for a value that is not an object.
    package init(_ value: JSONValue, at path: String = "", takesNull: Bool = true) throws(JSONError) {
        guard value.members != nil else {
            throw JSONError(path.isEmpty ? "the document" : "\"\(path)\"", is: value, not: "an object")
        }
        (self.value, self.path, self.takesNull) = (value, path, takesNull)
    }

    /// Returns a text; nil if there is no such member.
    package func text(_ name: String) throws(JSONError) -> String? {
        try read(name, "a string") { $0.string }
    }

    /// Returns `true` or `false`; nil if there is no such member.
    package func flag(_ name: String) throws(JSONError) -> Bool? {
        try read(name, "true or false") { $0.bool }
    }

    /// Returns a whole number, which may be written as `2.0`; nil if there is no such member.
    package func integer(_ name: String) throws(JSONError) -> Int? {
        try read(name, "a whole number") { value in
            value.integer.flatMap { Int(exactly: $0) } ?? value.double.flatMap { Int(exactly: $0) }
        }
    }

    /// Returns a number; nil if there is no such member.
    package func number(_ name: String) throws(JSONError) -> Double? {
        try read(name, "a number") { $0.double }
    }

    /// Returns a number, or the number in a text of digits, as some servers write it. Nil if there is no such member, or an empty text.
    package func lenientNumber(_ name: String) throws(JSONError) -> Double? {
        if value[name]?.string?.isEmpty == true { return nil }
        return try read(name, "a number") { value in
            value.double ?? value.string.flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil }
        }
    }

    /// Returns a list of texts; nil if there is no such member.
    package func texts(_ name: String) throws(JSONError) -> [String]? {
        guard let elements = try read(name, "a list", { $0.array }) else { return nil }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            guard let text = element.string else {
                throw JSONError("\"\(place(name))[\(index)]\"", is: element, not: "a string")
            }
            texts.append(text)
        }
        return texts
    }

    /// Returns the members of a nested object; nil if there is no such member.
    package func object(_ name: String) throws(JSONError) -> JSONMembers? {
        guard let found = try read(name, "an object", { $0.members == nil ? Optional.none : $0 }) else { return nil }
        return try JSONMembers(found, at: place(name), takesNull: takesNull)
    }

    private func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    private func read<Result>(
        _ name: String, _ wanted: String, _ convert: (JSONValue) -> Result?
    ) throws(JSONError) -> Result? {
        guard let found = value[name], !(takesNull && found.isNull) else { return Optional.none }
        guard let result = convert(found) else {
            throw JSONError("\"\(place(name))\"", is: found, not: wanted)
        }
        return result
    }
}

extension JSONError {
    /// - Parameter place: the member, in quotes.
    package init(_ place: String, is value: JSONValue, not wanted: String) {
        self.init(.typeMismatch, "\(place) must be \(wanted), but it is \(value.kind)")
    }
}

extension JSONValue {
    /// The type of this value, for an error that does not quote the value.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .number, .longNumber: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

/// An integer that some servers write as a number and some as a string of digits (`101009` or `"101009"`).
public struct LenientInteger: Codable, Sendable, Hashable {
    /// The integer.
    public var value: Int64

    public init(_ value: Int64) { self.value = value }

    /// Reads the integer from either form; nil for other values.
    public init?(_ json: JSONValue) {
        switch json {
        case .integer(let value): self.value = value
        case .string(let text):
            guard let value = Int64(text) else { return nil }
            self.value = value
        default: return nil
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int64.self) {
            self.value = value
        } else if let value = Int64(try container.decode(String.self)) {
            self.value = value
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an integer")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
