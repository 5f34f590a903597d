import ArgumentParser
import JSON
import RainKit

struct Whoami: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say who is signed in, as the cloud has it now.", discussion: "Example: rainctl whoami --json")

    @Option(help: ArgumentHelp("The time for everything: 6, 6s, 500ms, 2m.", valueName: "time"))
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.account()
        let profile = try await withTimeout(timeout.duration) { try await account.session.profile() }
        var members: [JSONValue.Member] = [
            .init("profile", .string(account.deployment.name)), .init("user_name", .string(profile.userName)),
            .init("user_id", .string(profile.userID.rawValue)),
        ]
        if let name = profile.name { members.append(.init("name", .string(name))) }
        if let email = profile.email { members.append(.init("email", .string(email))) }
        context.output.result(
            members,
            text: """
                \(profile.userName.onOneLine)
                user id: \(profile.userID.rawValue.onOneLine)
                profile: \(account.deployment.name)
                """)
    }
}
