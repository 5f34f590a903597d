import ArgumentParser
import RainJSON
import RainKit

struct AccountDataGet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the value of a key, or all of them.",
        discussion: "Example: rainctl account data get theme")

    @Argument(help: "The key; without it all values are printed.")
    var key: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.account()
        let data = try await withTimeout(timeout.duration) { try await account.user.customData() }
        if let key {
            guard let entry = data[key] else {
                throw CommandFailure(
                    .other, reason: "no_such_key",
                    message: "There is no value under \"\(key.onOneLine)\": rainctl account data get lists them all.")
            }
            return context.output.result(
                [.init("key", .string(key)), .init("value", entry.value ?? .null)],
                text: Self.text(entry.value ?? .null))
        }
        let values = JSONValue.object(data.entries.map { .init($0.key, $0.value ?? .null) })
        context.output.result([.init("data", values)], text: Self.text(values))
    }

    /// JSON on several lines. What a terminal could obey is escaped, as JSON lets it be; C0 controls are escaped already.
    private static func text(_ value: JSONValue) -> String {
        String(decoding: value.serialized(pretty: true), as: UTF8.self).unicodeScalars.reduce(into: "") {
            text, scalar in
            if (0x7F...0x9F).contains(scalar.value) {
                text += "\\u00" + String(scalar.value, radix: 16)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}
