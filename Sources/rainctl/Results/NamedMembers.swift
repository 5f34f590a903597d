// SPDX-License-Identifier: Apache-2.0

/// Members of a JSON object whose names are known only when the program runs, in their order.
struct NamedMembers: Encodable, Sendable {
    private var members: [(name: String, value: any Encodable & Sendable)] = []

    mutating func add(_ name: String, _ value: some Encodable & Sendable) { members.append((name, value)) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        // A schema is not to promise that each is always there: which are, is known only when the program runs.
        func add(_ value: some Encodable, _ name: String) throws {
            try container.encodeIfPresent(Optional(value), forKey: Name(stringValue: name))
        }
        for member in members { try add(member.value, member.name) }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension NamedMembers {
    /// The entries of a dictionary, sorted by name.
    init(sorted dictionary: [String: String]) {
        for (name, text) in dictionary.sorted(by: { $0.key < $1.key }) { add(name, text) }
    }
}
