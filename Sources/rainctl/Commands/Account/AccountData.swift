// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

/// The commands for values that applications keep with an account.
struct AccountData: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "data", abstract: "Read and change values that applications store in your account.",
        subcommands: [AccountDataGet.self, AccountDataSet.self, AccountDataRemove.self])
}

struct AccountDataGet: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "get", abstract: "Print the value of one key, or all values.",
        discussion: "Example: rainctl account data get theme")

    @Argument(help: "The key (default: all keys).")
    var key: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount(for: "custom data of accounts")
        let data = try await withTimeout(timeout.duration) { try await rainMaker.customData() }
        if let key {
            guard let entry = data[key] else {
                throw CommandFailure(
                    .other, reason: "no_such_key",
                    message:
                        "There is no value under \"\(key.onOneLine)\". To list all keys, run: \(commandLine("account data get"))"
                )
            }
            return context.output.result(CustomDataValueResult(entry))
        }
        context.output.result(CustomDataResult(data))
    }
}

/// All values that applications keep with the account, in the cloud's order.
struct CustomDataResult: CommandResult {
    let data: JSONValue

    var text: String { data.readable }
}

extension CustomDataResult {
    init(_ data: RainMakerCustomData) {
        self.init(data: .object(data.entries.map { .init($0.key, $0.value ?? .null) }))
    }
}

/// The value under one key.
struct CustomDataValueResult: CommandResult {
    let key: String
    let value: JSONValue

    var text: String { value.readable }
}

extension CustomDataValueResult {
    init(_ entry: RainMakerCustomData.Entry) { self.init(key: entry.key, value: entry.value ?? .null) }
}

struct AccountDataSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "set", abstract: "Store a value under a key.",
        discussion: """
            Example: rainctl account data set theme '{"dark": true}'
                     rainctl account data set greeting --text hello

            The cloud merges a new object into the stored object. Members that you omit stay as they are. Members with the value null are \
            removed. To replace the whole object, first remove the key.
            """)

    @Argument(help: "The key.")
    var key: String

    @Argument(help: "The value as JSON (- for standard input).")
    var value: String?

    @Option(help: ArgumentHelp("Store this text as the value.", valueName: "text"))
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
        let rainMaker = try account.rainMakerAccount(for: "custom data of accounts")
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
                .badData, reason: "not_json", message: "The value is not JSON: \(error). Use --text for plain text.")
        }
    }
}

struct AccountDataRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "remove", abstract: "Remove a key and its value.",
        discussion: "Example: rainctl account data remove theme")

    @Argument(help: "The key.")
    var key: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount(for: "custom data of accounts")
        let key = key
        try await withTimeout(timeout.duration) { try await rainMaker.removeCustomData(key) }
        context.output.result(
            CustomDataChangeResult(change: .removed, profile: account.name, key: key))
    }
}

/// A value that was kept with the account, or removed.
struct CustomDataChangeResult: ConfirmingResult {
    enum Change { case kept, removed }

    @TextOnly var change: Change
    let profile: String
    let key: String

    var text: String {
        switch change {
        case .kept: "Stored the value under \(key.onOneLine)."
        case .removed: "Removed \(key.onOneLine)."
        }
    }
}
