// SPDX-License-Identifier: Apache-2.0
/// What a command has done: the members of its document, and a sentence.
struct ActionResult: CommandResult {
    private var members = NamedMembers()
    private(set) var text: String

    init(_ text: String) { self.text = text }

    func with(_ name: String, _ value: some Encodable & Sendable) -> Self {
        var result = self
        result.members.add(name, value)
        return result
    }

    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}
