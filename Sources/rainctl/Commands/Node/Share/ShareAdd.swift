// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// What the other user becomes, on the command line.
enum SharedRoleArgument: String, ExpressibleByArgument, CaseIterable {
    case secondary, primary, owner
}

struct ShareAdd<Subject: SharedSubject>: CloudCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "add", abstract: "Offer \(Subject.noun)s to another user.",
            discussion: """
                Example: rainctl \(Subject.command) add NAME --with friend@example.com

                The other user has seven days to accept. A secondary user may see and set, a primary one share further as well, and the owner \
                is the only one to have them: with --keep-access you stay a secondary user.
                """)
    }

    @Argument(help: "Which, by id or name: NAME[,NAME…].")
    var names: String

    @Option(
        name: .customLong("with"),
        help: ArgumentHelp("The other user's name, an e-mail address or number.", valueName: "user"))
    var user: String

    @Option(name: .customLong("as"), help: "What the other user becomes: secondary, primary or owner.")
    var role = SharedRoleArgument.secondary

    @Flag(help: "Where you hand them over, stay a secondary user.")
    var keepAccess = false

    @Flag(help: "Do not ask whether you mean to hand them over.")
    var yes = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if user.isBlank { throw ValidationError("--with takes the other user's name.") }
        if keepAccess, role != .owner { throw ValidationError("--keep-access goes with --as owner.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (names, user) = (names, user)
        let ids = try await scene.time.run { try await Subject.ids(names, scene) }
        if role == .owner, !yes {
            let list = ids.joined(separator: ", ").onOneLine
            try scene.confirm(
                "Hand \(list) over to \(user.onOneLine)?",
                otherwise: "This hands \(list) over to \(user.onOneLine)")
        }
        let role: SharedRole =
            switch role {
            case .secondary: .secondary
            case .primary: .primary
            case .owner: .newOwner(formerOwnerStays: keepAccess)
            }
        let request = try await scene.time.run {
            do throws(AccountError) {
                return try await scene.cloud.share(Subject.kind, ids, with: user, as: role)
            } catch {
                throw CommandFailure(sharing: error)
            }
        }
        return ActionResult(
            "offered to \(user.onOneLine), who accepts it with: rainctl \(Subject.command) accept \(request.asShellWord)"
        ).with("request_id", request).with("ids", ids).with("user_name", user)
    }
}
