// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

struct AccountPublicProfile: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "public-profile",
        abstract: "Show or change an account's public profile, which all other users can see.",
        discussion: """
            Example: rainctl account public-profile friend@example.com
                     rainctl account public-profile --set '{"name": "Ada"}'
            """)

    @Argument(
        help: "Show the profile of this user, given by e-mail address or telephone number (default: your profile).")
    var user: String?

    @Option(help: ArgumentHelp("Replace your public profile with this JSON object.", valueName: "json"))
    var set: String?

    @Flag(help: "Remove your public profile.")
    var remove = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard [user != nil, set != nil, remove].count(where: { $0 }) <= 1 else {
            throw ValidationError("Give only one of these: a user's name, --set or --remove.")
        }
        guard let set else { return }
        do throws(CommandFailure) { _ = try Payload.object(set, option: "--set") } catch {
            throw ValidationError(error.message)
        }
    }

    func run() async throws {
        let context = try Context(options)
        let account = try context.client().account().rainMakerAccount(for: "public profiles")
        let user = user
        let given = try set.map { try Payload.object($0, option: "--set") }
        if remove || given != nil {
            try await withTimeout(timeout.duration) { try await account.setPublicProfile(given) }
            return context.output.result(PublicProfileResult(userName: nil, profile: given ?? [:], isChange: true))
        }
        let profile = try await withTimeout(timeout.duration) {
            do throws(AccountError) { return try await account.publicProfile(of: user) } catch {
                throw CommandFailure(sharing: error)
            }
        }
        context.output.result(PublicProfileResult(userName: user, profile: profile))
    }
}

/// What a user shows to all other users.
struct PublicProfileResult: CommandResult {
    /// The user; nil for the signed-in one.
    let userName: String?
    let profile: JSONValue
    @TextOnly var isChange = false

    var text: String {
        let isEmpty = profile.members?.isEmpty == true
        if isChange { return isEmpty ? "Removed your public profile" : "Changed your public profile" }
        return isEmpty ? "This user has no public profile." : profile.readable
    }
}
