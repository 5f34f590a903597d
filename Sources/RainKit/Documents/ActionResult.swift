// SPDX-License-Identifier: Apache-2.0

/// A finished action: the members of its document, and a sentence.
package struct ActionResult: Encodable, Sendable {
    private var members = NamedMembers()
    package let text: String
    /// Whether something was changed.
    package let isChange: Bool

    /// - Parameter isChange: whether something was changed.
    package init(_ text: String, isChange: Bool = true) {
        self.text = text
        self.isChange = isChange
    }

    package func with(_ name: String, _ value: some Encodable & Sendable) -> Self {
        var result = self
        result.members.add(name, value)
        return result
    }

    package func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}
