// SPDX-License-Identifier: Apache-2.0

/// A member that is `null` where it has no value, and not absent like others.
@propertyWrapper
struct NullIfAbsent<Value: Encodable & Sendable>: Encodable, Sendable {
    var wrappedValue: Value?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}
