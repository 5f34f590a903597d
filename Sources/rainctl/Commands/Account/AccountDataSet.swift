// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

struct AccountDataSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Keep a value under a key.",
        discussion: """
            Example: rainctl account data set theme '{"dark": true}'
                     rainctl account data set greeting --text hello

            An object is merged with the one that is there: its other members stay, and one that is null goes. To replace it, remove \
            the key first.
            """)

    @Argument(help: "The key.")
    var key: String

    @Argument(help: "The value as JSON; - reads it from standard input.")
    var value: String?

    @Option(help: ArgumentHelp("The value as text.", valueName: "text"))
    var text: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    /// The cloud takes up to 399 KB.
    private static let maximumBytes = 400 << 10

    func validate() throws {
        if (value == nil) == (text == nil) { throw ValidationError("Give the value as JSON or with --text.") }
    }

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount()
        let entry = RainMakerCustomData.Entry(key: key, value: try json(within: time))
        try await time.run { try await rainMaker.setCustomData(entry) }
        context.output.result(
            CustomDataChangeResult(change: .kept, profile: account.name, key: key))
    }

    private func json(within time: TimeBudget) throws(CommandFailure) -> JSONValue {
        if let text { return .string(text) }
        let bytes =
            value == "-"
            ? try SecretSource.standardInput(
                name: "value", maximumBytes: Self.maximumBytes, isExact: true, within: time.left
            )
            .revealBytes()
            : Array((value ?? "").utf8)
        let document = try Payload.document(bytes, name: "value", reason: "not_json")
        do throws(JSONError) {
            return try JSONValue(parsing: document)
        } catch {
            throw CommandFailure(
                .badData, reason: "not_json", message: "The value is not JSON (\(error)): use --text for plain text.")
        }
    }
}
