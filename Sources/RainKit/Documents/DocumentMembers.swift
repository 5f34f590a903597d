// SPDX-License-Identifier: Apache-2.0

/// Members of a JSON object whose names are known only when the program runs, in their order.
package struct NamedMembers: Encodable, Sendable {
    private var members: [(name: String, value: any Encodable & Sendable)] = []

    package init() {}

    package mutating func add(_ name: String, _ value: some Encodable & Sendable) { members.append((name, value)) }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        // The schema must not promise that each member is present, because that is known only at run time.
        func add(_ value: some Encodable, _ name: String) throws {
            try container.encodeIfPresent(Optional(value), forKey: Name(stringValue: name))
        }
        for member in members { try add(member.value, member.name) }
    }

    struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension NamedMembers {
    /// The entries of a dictionary, sorted by name.
    package init(sorted dictionary: [String: String]) {
        for (name, text) in dictionary.sorted(by: { $0.key < $1.key }) { add(name, text) }
    }
}

/// A property of a result that is only for its text. Documents do not have it.
@propertyWrapper
package struct TextOnly<Value: Sendable>: Encodable, Sendable {
    package var wrappedValue: Value

    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    package func encode(to encoder: any Encoder) {}
}

extension KeyedEncodingContainer {
    /// Encodes nothing: the compiler chooses this function for the property of a result.
    package mutating func encode(_ value: TextOnly<some Sendable>, forKey key: Key) {}
}

/// A member that is `null` without a value, instead of absent like others.
@propertyWrapper
package struct NullIfAbsent<Value: Encodable & Sendable>: Encodable, Sendable {
    package var wrappedValue: Value?

    package init(wrappedValue: Value? = nil) { self.wrappedValue = wrappedValue }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}
