import ArgumentParser
import RainJSON
import RainKit

struct AccountList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the accounts on this machine; the one in use has a star.",
        discussion: "Example: rainctl account list --json")

    @Flag(help: "Those of all deployments, not only of the one in use.")
    var all = false

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let known = try context.accounts.known.load()
        let deployment = try context.provider(which) ?? context.deployment().name
        let entries = all ? known.entries : known.entries(at: deployment)
        let isCurrent = { (entry: KnownAccounts.Entry) in
            let current = context.accountName ?? known.current(at: entry.deployment)?.name
            return entry.name == current
        }
        let documents = entries.map { entry in
            JSONValue.object([
                .init("profile", .string(entry.deployment)), .init("account", .string(entry.name)),
                .init("user_name", .string(entry.userName)), .init("user_id", .string(entry.userID)),
                .init("store", .string(entry.store.rawValue)), .init("current", .bool(isCurrent(entry))),
            ])
        }
        let lines = entries.map { entry in
            let place = all ? "\(entry.deployment)  " : ""
            let user = entry.userName == entry.name ? "" : "  \(entry.userName.onOneLine)"
            return "\(isCurrent(entry) ? "*" : " ") \(place)\(entry.name.onOneLine)\(user)  (\(entry.store.rawValue))"
        }
        context.output.result([.init("accounts", .array(documents))], text: lines.joined(separator: "\n"))
        if entries.isEmpty { context.output.say("Nobody is signed in\(all ? "" : " to \(deployment)").") }
    }
}
