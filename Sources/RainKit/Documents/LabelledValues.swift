// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Values with a name for scripts and a label for people. One description makes both forms of a result, so that they cannot differ.
package struct LabelledValues: Encodable, Sendable {
    private var members = NamedMembers()
    private var lines: [String] = []

    package init() {}

    package var text: String { lines.joined(separator: "\n") }

    package func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }

    /// Adds a text, on a line after its label. Without a label, the name is used. Adds nothing for nil.
    package mutating func add(_ name: String, label: String? = nil, _ text: String?) {
        guard let text else { return }
        add(name, text, line: "\(label ?? Self.words(name)): \(text.onOneLine)")
    }

    /// Adds a list of texts. Adds nothing if it is empty.
    package mutating func add(_ name: String, _ texts: [String]) {
        guard !texts.isEmpty else { return }
        add(name, texts, line: "\(Self.words(name)): \(texts.joined(separator: ", ").onOneLine)")
    }

    /// Adds a value with its own line.
    package mutating func add(_ name: String, _ value: some Encodable & Sendable, line: String) {
        members.add(name, value)
        lines.append(line)
    }

    /// Adds a value only for scripts, or whose line comes later.
    package mutating func add(memberOnly name: String, _ value: some Encodable & Sendable) { members.add(name, value) }

    /// Adds a line about members that were added before.
    package mutating func add(line: String) { lines.append(line) }

    private static func words(_ name: String) -> String { name.replacing("_", with: " ") }
}
