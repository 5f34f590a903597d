// SPDX-License-Identifier: Apache-2.0

/// An integer that some servers write as a number and some as a string of digits (`101009` or `"101009"`).
public struct LenientInteger: Codable, Sendable, Hashable {
    /// The integer.
    public var value: Int64

    public init(_ value: Int64) { self.value = value }

    /// The integer in either form, or nil.
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
