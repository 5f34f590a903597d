// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TestSupport
import Testing

@testable import rainctl

/// README and docs tell people to type these.
@Suite("rainctl's commands in README and docs")
struct DocumentedCommandTests {
    @Test(
        "rainctl has each command and its options",
        arguments: DocumentedCommand.all.filter { $0.words.first == "rainctl" })
    func parses(command: DocumentedCommand) {
        #expect(throws: Never.self, "\(command.testDescription)") {
            let arguments = Array(command.words.dropFirst())
            // The same two steps as in `Rainctl.parsed`, which prints the error.
            let named = NamedCommand(arguments)
            if named.parsed() == nil, HelpTopic(of: named) == nil { _ = try named.root.parseAsRoot(named.arguments) }
        }
    }
}
