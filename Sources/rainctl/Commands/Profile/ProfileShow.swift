import ArgumentParser
import RainJSON
import RainKit

struct ProfileShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a deployment's settings; with --origin, where each is from.",
        discussion: """
            Example: rainctl profile show --origin

            An option goes before a variable of the environment (RAINKIT_PROFILE, RAINKIT_ACCOUNT, RAINKIT_STORE, RAINKIT_CA_FILE), \
            a variable before your file, and your file before what is built in.
            """)

    @Argument(help: "Its name; the one in use if not given.")
    var name: String?

    @Flag(help: "Say where each value is from.")
    var origin = false

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let settings = try ProfileSettings(context, named: name)
        let members = settings.values.map { value in
            JSONValue.Member(
                value.key,
                origin
                    ? ["value": .string(value.text), "origin": .string(value.origin.description)] : .string(value.text))
        }
        let width = settings.values.map(\.key.count).max() ?? 0
        let lines = settings.values.map { value in
            let key = value.key + String(repeating: " ", count: width - value.key.count)
            return "\(key)  \(value.text.onOneLine)" + (origin ? "  (\(value.origin))" : "")
        }
        context.output.result(members, text: lines.joined(separator: "\n"))
    }
}
