// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainKit
import Testing

@testable import rainctl

/// All output of rainctl that is kept word for word: help, results and their schemas.
///
/// Scripts depend on the results: names, order, types and absence of members are a promise, to the byte.
/// `RAINKIT_RECORD=1 swift test --filter RecordedOutput` writes all files again.
@Suite("Recorded output")
struct RecordedOutputTests {
    private static let help = "Tests/rainctlTests/Recorded/Help"
    private static let results = "Tests/rainctlTests/Recorded/Results"
    private static let schemas = "docs/schema"

    @Test("the help of each command; a command that does something shows an example", arguments: ShownCommand.all)
    func help(of command: ShownCommand) throws {
        let help = try command.help()
        try RecordedOutput.expect(help, in: "\(Self.help)/\(command.fileName)")
        #expect(help.contains("Example: rainctl") || (command.isGroup && !command.words.isEmpty))
        // Each line of an example fits on a screen of 80 columns, so that it can be copied.
        let examples = help.split(separator: "\n", omittingEmptySubsequences: false).drop { !$0.hasPrefix("Example: ") }
            .prefix { !$0.isEmpty }
        #expect(examples.dropFirst().allSatisfy { $0.hasPrefix("  ") }, "\(examples.joined(separator: "\n"))")
    }

    @Test("the JSON and the text of each result's examples", arguments: ExampleResults.typeNames)
    func result(of type: String) throws {
        let text = ExampleResults.ofType(type).map(Self.recorded).joined(separator: "\n")
        try RecordedOutput.expect(text, in: "\(Self.results)/\(Self.fileName(type))")
    }

    @Test("the schema of each document and each streamed line")
    func schema() throws {
        for (file, text) in try PublishedSchemas.all() {
            try RecordedOutput.expect(text, in: "\(Self.schemas)/\(file)")
        }
    }

    @Test("no file of a command or a result that is gone")
    func others() throws {
        let results = ExampleResults.typeNames.map(Self.fileName)
        try RecordedOutput.expectNoOthers(than: ShownCommand.all.map(\.fileName), suffix: ".txt", in: Self.help)
        try RecordedOutput.expectNoOthers(than: results, suffix: ".txt", in: Self.results)
        try RecordedOutput.expectNoOthers(than: PublishedSchemas.all().map(\.file), suffix: ".json", in: Self.schemas)
    }

    /// The document on one line, then each line of the text behind `| `. An empty text has no lines.
    private static func recorded(_ result: any CommandResult) -> String {
        let lines = result.text.isEmpty ? [] : result.text.split(separator: "\n", omittingEmptySubsequences: false)
        return JSONText.line(result) + lines.map { "| \($0)\n" }.joined()
    }

    /// `NodeListResult` is recorded in `node-list.txt`.
    private static func fileName(_ type: String) -> String { PublishedSchemas.stem(type) + ".txt" }
}
