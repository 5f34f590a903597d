// SPDX-License-Identifier: Apache-2.0

/// Values with a name for scripts and a label for people: both forms of a result from one description, so that they cannot differ.
struct LabelledValues: Encodable, Sendable {
    private var members = NamedMembers()
    private var lines: [String] = []

    var text: String { lines.joined(separator: "\n") }

    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }

    /// A text, on a line behind its label, which is its name in words unless it is given. Nothing where there is no text.
    mutating func add(_ name: String, label: String? = nil, _ text: String?) {
        guard let text else { return }
        add(name, text, line: "\(label ?? Self.words(name)): \(text.onOneLine)")
    }

    /// A list of texts. Nothing where it is empty.
    mutating func add(_ name: String, _ texts: [String]) {
        guard !texts.isEmpty else { return }
        add(name, texts, line: "\(Self.words(name)): \(texts.joined(separator: ", ").onOneLine)")
    }

    /// A value that has a line of its own kind.
    mutating func add(_ name: String, _ value: some Encodable & Sendable, line: String) {
        members.add(name, value)
        lines.append(line)
    }

    /// A value for scripts alone, or whose line comes later.
    mutating func add(memberOnly name: String, _ value: some Encodable & Sendable) { members.add(name, value) }

    /// A line that tells what members before it hold.
    mutating func add(line: String) { lines.append(line) }

    private static func words(_ name: String) -> String { name.replacing("_", with: " ") }
}
