// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// The argument parser's help, in rainctl's order: the options of every command come last.
enum HelpText {
    /// The column at which descriptions begin, as in the parser's help.
    private static let indent = 26

    /// The width for help: `COLUMNS`, else the terminal's, else 80. The parser uses the same.
    static var columns: Int {
        getenv("COLUMNS").flatMap { Int(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil }
            ?? TerminalSize.columnsOfOutput ?? 80
    }

    /// - Parameter text: any output of the argument parser; only help is changed. The parser puts all titled groups of options before the
    ///   others.
    static func arranged(_ text: String, columns: Int = columns) -> String {
        guard text.hasPrefix("OVERVIEW: "), let usage = text.firstRange(of: "\nUSAGE: ") else { return text }
        let lines = text[usage.upperBound...].utf8.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var sections = lines.split(whereSeparator: \.isEmpty).map { Section($0.map(Substring.init)) }
        let ending = sections.last.flatMap { $0.title.hasPrefix("  See ") ? sections.removeLast() : nil }
        if let index = sections.firstIndex(where: { $0.title == "EVERYWHERE:" }) {
            var everywhere = sections.remove(at: index)
            if let own = sections.firstIndex(where: { $0.title == "OPTIONS:" }) {
                everywhere.items += sections[own].removeItems {
                    $0.hasPrefix("  --version") || $0.hasPrefix("  -h, --help")
                }
                if sections[own].items.isEmpty { sections.remove(at: own) }
            }
            if ending != nil { sections.append(topics(columns)) }
            sections.append(everywhere)
        }
        let all = (sections + [ending].compactMap(\.self)).map(\.text).joined(separator: "\n\n")
        return text[..<usage.upperBound] + all
    }

    /// The topics of `rainctl help`.
    private static func topics(_ columns: Int) -> Section {
        Section(
            title: "TOPICS:",
            items: HelpTopic.allCases.map { row($0.rawValue, $0.abstract, columns: columns) })
    }

    /// Returns a label and its description, as the parser arranges an option.
    static func row(_ label: String, _ text: String, columns: Int) -> String {
        let lines = wrapped(text, columns: columns - indent)
        let margin = String(repeating: " ", count: indent)
        // Two spaces are before the label, and at least one is after it.
        guard label.count < indent - 2, let first = lines.first else {
            return (["  \(label)"] + lines.map { margin + $0 }).joined(separator: "\n")
        }
        let gap = String(repeating: " ", count: indent - 2 - label.count)
        return (["  \(label)\(gap)\(first)"] + lines.dropFirst().map { margin + $0 }).joined(separator: "\n")
    }

    /// Returns the text in lines of at most so many columns. A longer word has its own line.
    static func wrapped(_ text: String, columns: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= max(columns, 20) {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    /// A heading, and the lines below it: each item with its further lines.
    private struct Section {
        var title: String
        var items: [String]

        init(title: String, items: [String]) {
            self.title = title
            self.items = items
        }

        init(_ lines: [Substring]) {
            title = lines.first.map(String.init) ?? ""
            items = []
            for line in lines.dropFirst() {
                if line.hasPrefix("   "), !items.isEmpty {
                    items[items.count - 1] += "\n\(line)"
                } else {
                    items.append(String(line))
                }
            }
        }

        var text: String { ([title] + items).joined(separator: "\n") }

        mutating func removeItems(_ isWanted: (String) -> Bool) -> [String] {
            defer { items.removeAll(where: isWanted) }
            return items.filter(isWanted)
        }
    }
}
