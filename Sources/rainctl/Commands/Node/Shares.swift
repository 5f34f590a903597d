// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainMaker

/// The commands `node share` and `group share`.
struct Shares<Subject: SharedSubject>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "share",
            abstract: "Share \(Subject.noun)s with other users, and accept \(Subject.noun)s from other users.",
            subcommands: [
                ShareList<Subject>.self, ShareRequests<Subject>.self, ShareAdd<Subject>.self,
                ShareRemove<Subject>.self, ShareAccept<Subject>.self, ShareDecline<Subject>.self,
                ShareCancel<Subject>.self,
            ])
    }
}

struct ShareList<Subject: SharedSubject>: CloudCommand, ListCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration.leaf(
            commandName: "list", abstract: "List the users of your \(Subject.noun)s.",
            discussion: "Example: rainctl \(Subject.command) list")
    }

    @Argument(help: "List only the users of this \(Subject.noun), given by its id or name (default: all).")
    var name: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> SharingListResult {
        let name = name
        return try await scene.time.run {
            var id: String?
            if let name { id = try await Subject.id(name, scene) }
            let all = try await scene.cloud.sharing(Subject.kind, of: id)
            return SharingListResult(all, names: await Subject.names(scene), noun: Subject.noun)
        }
    }
}

struct ShareRequests<Subject: SharedSubject>: CloudCommand, ListCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration.leaf(
            commandName: "requests", abstract: "List sharing requests from other users, or requests that you sent.",
            discussion: "Example: rainctl \(Subject.command) requests --sent")
    }

    @Flag(help: "List the requests that you sent.")
    var sent = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> SharingRequestsResult {
        let sent = sent
        return try await scene.time.run {
            let requests = try await scene.cloud.sharingRequests(Subject.kind, sent: sent)
            return SharingRequestsResult(
                requests, areSent: sent, names: await Subject.names(scene), noun: Subject.noun)
        }
    }
}

struct ShareRemove<Subject: SharedSubject>: CloudCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration.leaf(
            commandName: "remove", abstract: "Stop sharing with a user.",
            discussion: """
                Example: rainctl \(Subject.command) remove NAME --with friend@example.com

                To leave a \(Subject.noun) that another user shares with you, use --with and your own user name.
                """)
    }

    @Argument(help: "The \(Subject.noun)s, by id or name, separated by commas.")
    var names: String

    @Option(
        name: .customLong("with"),
        help: ArgumentHelp("The other user's name: an e-mail address or telephone number.", valueName: "user"))
    var user: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if user.isBlank { throw ValidationError("--with needs the other user's name.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (names, user) = (names, user)
        let (ids, shown) = try await scene.time.run {
            let ids = try await Subject.ids(names, scene)
            let shown = await Subject.names(scene).list(ids)
            do {
                try await scene.client.stopSharing(Subject.kind, ids, with: user)
            } catch let error as RainKitError {
                guard case .account(let account) = error.cause else { throw error }
                throw CommandFailure(sharing: account)
            }
            return (ids, shown)
        }
        return ActionResult("Stopped sharing \(shown) with \(user.onOneLine)")
            .with("ids", ids).with("user_name", user)
    }
}

struct ShareAccept<Subject: SharedSubject>: CloudCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration.leaf(
            commandName: "accept", abstract: "Accept a sharing request from another user.",
            discussion: "Example: rainctl \(Subject.command) accept REQUEST")
    }

    @Argument(help: "The request's id. To see it, run rainctl \(Subject.command) requests.")
    var request: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if request.isBlank { throw ValidationError("The request's id must not be empty.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let id = request
        try await scene.time.run {
            try await scene.cloud.answerSharing(Subject.kind, request: id, accepting: true)
        }
        return ActionResult("Accepted; the \(Subject.noun) is in your account now").with("request_id", id).with(
            "accepted", true)
    }
}

struct ShareDecline<Subject: SharedSubject>: CloudCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration.leaf(
            commandName: "decline", abstract: "Decline a sharing request from another user.",
            discussion: "Example: rainctl \(Subject.command) decline REQUEST")
    }

    @Argument(help: "The request's id. To see it, run rainctl \(Subject.command) requests.")
    var request: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if request.isBlank { throw ValidationError("The request's id must not be empty.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let id = request
        try await scene.time.run {
            try await scene.cloud.answerSharing(Subject.kind, request: id, accepting: false)
        }
        return ActionResult("Declined the offer").with("request_id", id).with("accepted", false)
    }
}

struct ShareCancel<Subject: SharedSubject>: CloudCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration.leaf(
            commandName: "cancel", abstract: "Withdraw a sharing request that you sent.",
            discussion: "Example: rainctl \(Subject.command) cancel REQUEST")
    }

    @Argument(help: "The request's id. To see it, run rainctl \(Subject.command) requests --sent.")
    var request: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if request.isBlank { throw ValidationError("The request's id must not be empty.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let id = request
        try await scene.time.run { try await scene.cloud.cancelSharing(Subject.kind, request: id) }
        return ActionResult("Withdrew the offer").with("request_id", id).with("cancelled", true)
    }
}

/// The other user's role, on the command line.
enum SharedRoleArgument: String, WordArgument {
    case secondary, primary, owner
}

struct ShareAdd<Subject: SharedSubject>: CloudCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration.leaf(
            commandName: "add", abstract: "Offer \(Subject.noun)s to another user.",
            discussion: """
                Example: rainctl \(Subject.command) add NAME --with friend@example.com

                The other user has seven days to accept. A secondary user can read and set values. A primary user can also share with \
                other users. With --as owner, the other user becomes the only owner. With --keep-access, you then become a secondary user.

                Secondary users can have a sub-role (--sub-role). The product's firmware decides what each number means.
                """)
    }

    @Argument(help: "The \(Subject.noun)s, by id or name, separated by commas.")
    var names: String

    @Option(
        name: .customLong("with"),
        help: ArgumentHelp("The other user's name: an e-mail address or telephone number.", valueName: "user"))
    var user: String

    @Option(name: .customLong("as"), help: "Give the other user this role: secondary, primary or owner.")
    var role = SharedRoleArgument.secondary

    @Option(help: ArgumentHelp("Give the secondary user this sub-role, 1 to 4.", valueName: "number"))
    var subRole: Int?

    @Option(
        help: ArgumentHelp(
            "Send this JSON object to the other user's application (default: the names of the boards).",
            valueName: "json"))
    var metadata: String?

    @Flag(help: "Become a secondary user when the other user becomes the owner (only with --as owner).")
    var keepAccess = false

    @Flag(help: "With --as owner, do not ask for confirmation.")
    var yes = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if user.isBlank { throw ValidationError("--with needs the other user's name.") }
        if keepAccess, role != .owner { throw ValidationError("--keep-access needs --as owner.") }
        if let subRole {
            guard RainMakerCloud.subRoles.contains(subRole) else {
                throw ValidationError("--sub-role is a number from 1 to 4.")
            }
            guard role == .secondary else { throw ValidationError("--sub-role needs --as secondary.") }
        }
        guard let metadata else { return }
        do throws(CommandFailure) { _ = try Payload.object(metadata, option: "--metadata") } catch {
            throw ValidationError(error.message)
        }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (names, user) = (names, user)
        let (ids, list) = try await scene.time.run {
            let ids = try await Subject.ids(names, scene)
            return (ids, await Subject.names(scene).list(ids))
        }
        if role == .owner, !yes {
            try scene.confirm(
                "Make \(user.onOneLine) the owner of \(list)?",
                otherwise: "This makes \(user.onOneLine) the owner of \(list)")
        }
        let role: SharedRole =
            switch role {
            case .secondary: .secondary
            case .primary: .primary
            case .owner: .newOwner(formerOwnerStays: keepAccess)
            }
        let subRole = subRole
        let metadata = try metadata.map { try Payload.object($0, option: "--metadata") }
        let request = try await scene.time.run {
            do {
                return try await scene.client.share(
                    Subject.kind, ids, with: user, as: role, subRole: subRole, metadata: metadata)
            } catch let error as RainKitError {
                guard case .account(let account) = error.cause else { throw error }
                throw CommandFailure(sharing: account)
            }
        }
        return ActionResult(
            "Offered \(list) to \(user.onOneLine). To accept the offer, this user runs: rainctl \(Subject.command) accept \(request.asShellWord)"
        ).with("request_id", request).with("ids", ids).with("user_name", user)
    }
}

/// What can be shared: boards or groups of boards.
protocol SharedSubject: Sendable {
    static var kind: SharedKind { get }
    /// The command group, such as `node share`.
    static var command: String { get }
    static var noun: String { get }
    /// Returns the id that belongs to an id or name.
    static func id(_ name: String, _ scene: CloudScene) async throws -> String
    /// Returns the ids that belong to ids or names: at least one.
    static func ids(_ names: String, _ scene: CloudScene) async throws -> [String]
    /// Returns the names for people.
    static func names(_ scene: CloudScene) async -> ShownNames
}

enum SharedNodes: SharedSubject {
    static let kind = SharedKind.nodes
    static let command = "node share"
    static let noun = "board"

    static func id(_ name: String, _ scene: CloudScene) async throws -> String {
        try await scene.client.node(named: name).id.rawValue
    }

    static func ids(_ names: String, _ scene: CloudScene) async throws -> [String] {
        try await scene.client.nodes(listed: names).map(\.id.rawValue)
    }

    static func names(_ scene: CloudScene) async -> ShownNames { scene.boardNames }
}

enum SharedGroups: SharedSubject {
    static let kind = SharedKind.groups
    static let command = "group share"
    static let noun = "group"

    static func id(_ name: String, _ scene: CloudScene) async throws -> String {
        try await scene.client.group(named: name).id
    }

    static func ids(_ names: String, _ scene: CloudScene) async throws -> [String] {
        try await scene.client.groups(listed: names).map(\.id)
    }

    static func names(_ scene: CloudScene) async -> ShownNames { await scene.groupNames() }
}

extension CommandFailure {
    /// The failure of a call that names another user. An unknown user does not concern the own sign-in.
    init(sharing error: AccountError) {
        self.init(error)
        if error.code == .unknownUser { status = .other }
    }
}

extension SharingListResult: CommandResult {
    var text: String {
        shared.map { entry in
            let others =
                entry.secondaryUsers.isEmpty ? "" : "  shared with \(entry.secondaryUsers.joined(separator: ", "))"
            return "\(entry.id)  \(entry.primaryUsers.joined(separator: ", "))\(others)".onOneLine
        }.joined(separator: "\n")
    }
}

extension SharingListResult: ListResult {
    var table: ListTable { ListTable(member: "shared", columns: ["id", "primary_users", "secondary_users"]) }
}

extension SharingRequestsResult: CommandResult {
    var text: String {
        if requests.isEmpty { return "There are no requests." }
        return requests.map { entry in
            let other = areSent ? "to \(entry.userName ?? "?")" : "from \(entry.ownerName ?? "?")"
            // The names of what others share are not in this account yet.
            let names = entry.groupNames ?? entry.deviceNames
            let called = names.isEmpty ? "" : "  (\(names.joined(separator: ", ")))"
            return "\(entry.requestID)  \(entry.status)  \(other)  \(entry.ids.joined(separator: ", "))\(called)"
                .onOneLine
        }.joined(separator: "\n")
    }
}

extension SharingRequestsResult: ListResult {
    var table: ListTable {
        ListTable(
            member: "requests", columns: ["request_id", "status", "ids", "user_name", "owner_name", "requested_at"])
    }
}
