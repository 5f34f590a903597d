// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A line of a shell's code block in README or docs.
public struct DocumentedCommand: Sendable, CustomTestStringConvertible, Hashable {
    public let page: String
    /// Without its comment.
    public let line: String

    public var testDescription: String { "\(page): \(line)" }

    /// The words of the command, as a shell reads them, without assignments in front and `&`, `|` and `>` behind.
    public var words: [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            switch (character, quote) {
            case (let end, let open?) where end == open: quote = nil
            case (_, .some): word = (word ?? "") + String(character)
            case ("'", nil), ("\"", nil):
                quote = character
                word = word ?? ""
            case (" ", nil):
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        let command = words.drop { $0.contains("=") && !$0.hasPrefix("-") }
        return Array(command.prefix { $0 != "&" && $0 != "|" && !$0.hasPrefix(">") })
    }

    /// Those of every page, in order.
    public static let all: [DocumentedCommand] = {
        var pages = ["README.md", "CONTRIBUTING.md", "examples/README.md", "pytest-rainkit/README.md"]
        let docs = Repository.path("docs")
        let found = (try? FileManager.default.subpathsOfDirectory(atPath: docs)) ?? []
        pages += found.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
        return pages.flatMap { page in commands(in: (try? readFile(Repository.path(page))) ?? "", page) }
    }()

    private static func commands(in text: String, _ page: String) -> [DocumentedCommand] {
        var all: [DocumentedCommand] = []
        var isCode = false
        var hereDocumentEnd: String?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                isCode = !isCode && ["```sh", "```bash", "```console"].contains(line)
                continue
            }
            guard isCode else { continue }
            if let end = hereDocumentEnd {
                if line == end { hereDocumentEnd = nil }
                continue
            }
            if line.contains("<<'EOF'") { hereDocumentEnd = "EOF" }
            let command =
                line.split(separator: #/(^|\s+)#( .*)?$/#, omittingEmptySubsequences: false).first.map(String.init)
                ?? ""
            if !command.isEmpty { all.append(DocumentedCommand(page: page, line: command)) }
        }
        return all
    }
}
