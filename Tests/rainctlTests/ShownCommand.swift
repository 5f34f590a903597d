// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Testing

@testable import rainctl

/// A command that rainctl's help shows, found in the tree of commands.
struct ShownCommand: Sendable, CustomTestStringConvertible {
    /// Without `rainctl`; empty for `rainctl` itself.
    let words: [String]
    /// Whether it only holds other commands.
    let isGroup: Bool

    var testDescription: String { (["rainctl"] + words).joined(separator: " ") }

    /// The name of the file that holds its help, such as `rainctl-node-list.txt`.
    var fileName: String { (["rainctl"] + words).joined(separator: "-") + ".txt" }

    static let all: [ShownCommand] = found(Rainctl.self, words: [])

    private static func found(_ command: any ParsableCommand.Type, words: [String]) -> [ShownCommand] {
        let below = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
        return [ShownCommand(words: words, isGroup: !below.isEmpty)]
            + below.flatMap { found($0, words: words + [NamedCommand.name(of: $0)]) }
    }

    /// The text that the command prints with `--help` if the terminal has 80 columns.
    ///
    /// Takes the steps of `Rainctl`: the parser returns its own help command, and that command throws a request to show help. Only the
    /// width is given here.
    func help() throws -> String {
        let request = try #require(
            throws: (any Error).self, "\(words): the parser has not returned its help command"
        ) {
            let named = NamedCommand(words + ["--help"])
            var help = try named.root.parseAsRoot(named.arguments)
            try help.run()
        }
        try #require(Rainctl.exitCode(for: request) == .success, "\(words): \(request)")
        return HelpText.arranged(Rainctl.fullMessage(for: request, columns: 80), columns: 80) + "\n"
    }
}
