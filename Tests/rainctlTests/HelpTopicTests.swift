// SPDX-License-Identifier: Apache-2.0
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("Topics of rainctl help, and its order")
struct HelpTopicTests {
    @Test(
        "each topic has all entries of its list, and fits the terminal", arguments: HelpTopic.allCases, [50, 80, 200])
    func text(topic: HelpTopic, columns: Int) {
        let text = topic.text(columns: columns)
        let words = text.split { $0 == " " || $0 == "\n" || $0 == "," }
        for entry in topic.entries {
            for word in entry.label.split(separator: " ") + entry.text.split(separator: " ") {
                #expect(words.contains { $0 == word || "\($0)," == word }, "\(word)")
            }
        }
        let lines = text.split(separator: "\n")
        // A long list of names stays in one piece.
        let names = topic.entries.map { "  \($0.label)" }
        #expect(
            lines.allSatisfy { $0.count <= columns || names.contains(String($0)) || !$0.dropFirst(26).contains(" ") })
        #expect(lines.contains { $0.count > columns * 3 / 5 }, "the width is used")
        #expect(!text.contains("`") && text.hasSuffix(".\n"))
    }

    @Test("a topic is help and its name, and nothing more")
    func names() {
        let topic = { (line: String) in HelpTopic(of: NamedCommand(line.split(separator: " ").map(String.init))) }
        #expect(topic("help exit-codes") == .exitCodes && topic("--profile lab help environment") == .environment)
        #expect(topic("help") == nil && topic("help exit-codes more") == nil && topic("exit-codes") == nil)
        #expect(topic("node help exit-codes") == nil)
    }

    @Test(
        "a topic with another spelling, or without help, is suggested",
        arguments: [
            ("help exit-code", "exit-codes"), ("exit-codes", "exit-codes"), ("help env", "environment"),
            ("environment", "environment"),
        ])
    func suggestion(line: String, topic: String) {
        let sentence = CommandSuggestion.sentence(for: line.split(separator: " ").map(String.init))
        #expect(sentence?.hasSuffix("Did you mean: rainctl help \(topic)?") == true, "\(sentence ?? "nothing")")
    }

    @Test("rainctl's help lists the topics")
    func listed() throws {
        let help = try #require(ShownCommand.all.first { $0.words.isEmpty }).help()
        for topic in HelpTopic.allCases { #expect(help.contains("\n  \(topic.rawValue) ")) }
    }

    @Test(
        "the options of every command come last, with --help, and no other option is among them",
        arguments: ShownCommand.all)
    func order(of command: ShownCommand) throws {
        let sections = try command.help().split(separator: "\n\n").filter { !$0.hasPrefix("  See ") }
        let everywhere = try #require(sections.last)
        guard !command.isGroup || command.words.isEmpty else { return }
        #expect(everywhere.hasPrefix("EVERYWHERE:\n"))
        let options = everywhere.matches(of: /\n  (?:-\w, )?(--?[a-z-]+)/).map { String($0.1) }
        #expect(
            options == [
                "--json", "--compact", "--quiet", "-v", "--log-file", "--log-format", "--no-input", "--profile",
                "--account",
                "--ca-file",
                "--version", "--help",
            ])
        #expect(!sections.dropLast().contains { $0.contains("\n  --json ") || $0.contains("\n  -h, --help ") })
    }

    @Test(
        "other output of the parser is not changed",
        arguments: ["0.3.0", "#!/bin/bash\n\nEVERYWHERE:\n  x", "", "{}\n\nUSAGE: "])
    func unchanged(text: String) { #expect(HelpText.arranged(text, columns: 80) == text) }
}

/// `rainctl help`, the manual and docs/exit-codes.md have the same lists.
@Suite("Exit codes and environment, in the page and in the program")
struct DocumentedListTests {
    /// The cells of the rows of the page's tables.
    private func rows() throws -> [[String]] {
        try readFile(Repository.path("docs/exit-codes.md")).split(separator: "\n").filter { $0.hasPrefix("| ") }.map {
            line in
            line.dropFirst(2).split(separator: " |", omittingEmptySubsequences: false).map { cell in
                String(cell.drop { $0 == " " })
            }
        }
    }

    @Test("each exit code has its meaning and its advice in the page", arguments: RainKitError.Code.allCases)
    func exitCode(status: RainKitError.Code) throws {
        let row = try #require(try rows().first { $0[0] == "\(status.rawValue)" && $0[1] == "`\(status.name)`" })
        #expect(row[2].hasPrefix(status.meaning), "\(status.meaning)")
        let advice = row[3].replacing(/\[([^\]]+)\]\([^)]+\)/) { $0.1 }
        #expect(advice.hasPrefix(status.advice ?? ""), "\(status.advice ?? "")")
        #expect(status.meaning.first?.isLowercase == true && status.meaning.last != ".")
    }

    @Test("each variable has its meaning in the page, and the page has no others")
    func variables() throws {
        let page = try readFile(Repository.path("docs/exit-codes.md"))
        let part = try #require(page.firstRange(of: "## The environment\n")).upperBound
        let table = page[part...].split(separator: "\n").drop { !$0.hasPrefix("| `") }.prefix { $0.hasPrefix("| `") }
        let expected = EnvironmentVariable.all.map { variable in
            "| \(variable.names.map { "`\($0)`" }.joined(separator: ", ")) | \(variable.meaning)"
        }
        for start in expected { #expect(table.contains { $0.hasPrefix(start) }, "\(start)") }
        #expect(table.count == expected.count)
    }

    @Test("each variable of RainKit and of XDG that the sources name is in the list")
    func sources() throws {
        let listed = Set(EnvironmentVariable.all.flatMap(\.names))
        let folder = Repository.path("Sources")
        var found: Set<String> = []
        for file in try filesBelow(folder) where file.hasSuffix(".swift") && !file.hasPrefix("Simulators/") {
            for match in try readFile("\(folder)/\(file)").matches(of: /"((?:RAINKIT|XDG)_[A-Z_]+)"/) {
                found.insert(String(match.1))
            }
        }
        #expect(found.count > 10)
        #expect(found.subtracting(listed).isEmpty)
        #expect(Set(EnvironmentVariable.secrets).isSubset(of: listed))
    }
}
