// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// `node share` and `group share`.
struct Shares<Subject: SharedSubject>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "share",
            abstract: "Share \(Subject.noun)s with other users, and take what they share with you.",
            subcommands: [
                ShareList<Subject>.self, ShareRequests<Subject>.self, ShareAdd<Subject>.self,
                ShareRemove<Subject>.self, ShareAccept<Subject>.self, ShareDecline<Subject>.self,
                ShareCancel<Subject>.self,
            ])
    }
}

struct ShareList<Subject: SharedSubject>: CloudCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "list", abstract: "List who has your \(Subject.noun)s.",
            discussion: "Example: rainctl \(Subject.command) list")
    }

    @Argument(help: "One of them; all unless it is named.")
    var name: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> SharingListResult {
        let name = name
        return SharingListResult(
            try await scene.time.run {
                var id: String?
                if let name { id = try await Subject.id(name, scene) }
                return try await scene.cloud.sharing(Subject.kind, of: id)
            })
    }
}

struct ShareRequests<Subject: SharedSubject>: CloudCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "requests", abstract: "List what others offer you, or what you have offered.",
            discussion: "Example: rainctl \(Subject.command) requests --sent")
    }

    @Flag(help: "Those that you have sent.")
    var sent = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> SharingRequestsResult {
        let sent = sent
        let requests = try await scene.time.run { try await scene.cloud.sharingRequests(Subject.kind, sent: sent) }
        return SharingRequestsResult(requests, areSent: sent)
    }
}

struct ShareRemove<Subject: SharedSubject>: CloudCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "remove", abstract: "End what is shared with a user.",
            discussion: """
                Example: rainctl \(Subject.command) remove NAME --with friend@example.com

                With your own user name you leave what another user shares with you.
                """)
    }

    @Argument(help: "Which, by id or name: NAME[,NAME…].")
    var names: String

    @Option(
        name: .customLong("with"),
        help: ArgumentHelp("The other user's name, an e-mail address or number.", valueName: "user"))
    var user: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if user.isBlank { throw ValidationError("--with takes the other user's name.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (names, user) = (names, user)
        let (ids, kept) = try await scene.time.run {
            let ids = try await Subject.ids(names, scene)
            do throws(AccountError) {
                try await scene.cloud.stopSharing(Subject.kind, ids, with: user)
            } catch {
                throw CommandFailure(sharing: error)
            }
            return (ids, try await Self.kept(ids, by: user, scene.cloud))
        }
        guard kept.isEmpty else {
            throw CommandFailure(
                .other, reason: "still_shared",
                message:
                    "\(user.onOneLine) still has \(kept.joined(separator: ", ").onOneLine), by a group around it that is shared: rainctl group "
                    + "share list names it.")
        }
        return ActionResult("\(user.onOneLine) no longer has \(ids.joined(separator: ", ").onOneLine)")
            .with("ids", ids).with("user_name", user)
    }

    /// Those that the user has all the same: what is shared as a part of a group stays with it, and the cloud says of that what it says of
    /// everything that it ends. What it refuses to show is gone.
    private static func kept(
        _ ids: [String], by user: String, _ cloud: RainMakerCloud
    ) async throws(AccountError) -> [String] {
        var kept: [String] = []
        do throws(AccountError) {
            for id in ids {
                for holder in try await Subject.holders(of: id, cloud) where kept.last != id {
                    let shared = try await sharing(of: holder, cloud).filter { $0.id == holder }
                    let users = shared.flatMap { $0.primaryUsers + $0.secondaryUsers }
                    if users.contains(where: { $0.lowercased() == user.lowercased() }) { kept.append(id) }
                }
            }
        } catch {
            var unknown = error
            unknown.message =
                "the cloud has ended it, and did not say whether \(user.onOneLine) has it by a group around it all the same: \(error.message)"
            throw unknown
        }
        return kept
    }

    private static func sharing(of id: String, _ cloud: RainMakerCloud) async throws(AccountError) -> [Sharing] {
        do { return try await cloud.sharing(Subject.kind, of: id) } catch {
            guard error.isRefusal else { throw error }
            return []
        }
    }
}

struct ShareAccept<Subject: SharedSubject>: CloudCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "accept", abstract: "Take what another user offers.",
            discussion: "Example: rainctl \(Subject.command) accept REQUEST")
    }

    @Argument(help: "The request's id, as \(Subject.command) requests shows it.")
    var request: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if request.isBlank { throw ValidationError("A request's id is missing.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let id = request
        try await scene.time.run {
            try await scene.cloud.answerSharing(Subject.kind, request: id, accepting: true)
        }
        return ActionResult("accepted: it is in your account now").with("request_id", id).with("accepted", true)
    }
}

struct ShareDecline<Subject: SharedSubject>: CloudCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "decline", abstract: "Turn down what another user offers.",
            discussion: "Example: rainctl \(Subject.command) decline REQUEST")
    }

    @Argument(help: "The request's id, as \(Subject.command) requests shows it.")
    var request: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if request.isBlank { throw ValidationError("A request's id is missing.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let id = request
        try await scene.time.run {
            try await scene.cloud.answerSharing(Subject.kind, request: id, accepting: false)
        }
        return ActionResult("declined").with("request_id", id).with("accepted", false)
    }
}

struct ShareCancel<Subject: SharedSubject>: CloudCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "cancel", abstract: "Take back what you have offered.",
            discussion: "Example: rainctl \(Subject.command) cancel REQUEST")
    }

    @Argument(help: "The request's id, as \(Subject.command) requests --sent shows it.")
    var request: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if request.isBlank { throw ValidationError("A request's id is missing.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let id = request
        try await scene.time.run { try await scene.cloud.cancelSharing(Subject.kind, request: id) }
        return ActionResult("cancelled").with("request_id", id).with("cancelled", true)
    }
}

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

/// What the commands for sharing share: boards, or groups of them.
protocol SharedSubject: Sendable {
    static var kind: SharedKind { get }
    /// The command that these are under.
    static var command: String { get }
    static var noun: String { get }
    /// The id of the one that a person names.
    static func id(_ name: String, _ scene: CloudScene) async throws -> String
    /// The ids of those that a person names: at least one.
    static func ids(_ names: String, _ scene: CloudScene) async throws -> [String]
    /// What a user has it by who shares that: itself, and the groups around it.
    static func holders(of id: String, _ cloud: RainMakerCloud) async throws(AccountError) -> [String]
}

enum SharedNodes: SharedSubject {
    static let kind = SharedKind.nodes
    static let command = "node share"
    static let noun = "board"

    static func id(_ name: String, _ scene: CloudScene) async throws -> String {
        try await scene.choice.node(name).id.rawValue
    }

    static func ids(_ names: String, _ scene: CloudScene) async throws -> [String] {
        try await scene.choice.nodes(names).map(\.id.rawValue)
    }

    static func holders(of id: String, _ cloud: RainMakerCloud) -> [String] { [id] }
}

enum SharedGroups: SharedSubject {
    static let kind = SharedKind.groups
    static let command = "group share"
    static let noun = "group"

    static func id(_ name: String, _ scene: CloudScene) async throws -> String {
        try await GroupChoice(cloud: scene.cloud).group(name).id
    }

    static func ids(_ names: String, _ scene: CloudScene) async throws -> [String] {
        try await GroupChoice(cloud: scene.cloud).groups(names).map(\.id)
    }

    static func holders(of id: String, _ cloud: RainMakerCloud) async throws(AccountError) -> [String] {
        func way(in groups: [NodeGroup]) -> [String]? {
            for group in groups {
                if group.id == id { return [id] }
                if let inner = way(in: group.subgroups ?? []) { return [group.id] + inner }
            }
            return nil
        }
        return way(in: try await cloud.groups(withSubgroups: true)) ?? [id]
    }
}

extension CommandFailure {
    /// Of a call that names another user: that there is none says nothing of the own sign-in.
    init(sharing error: AccountError) {
        self.init(error)
        if error.code == .unknownUser { status = .other }
    }
}

/// Who has boards or groups.
struct SharingListResult: CommandResult {
    let shared: [Entry]

    struct Entry: Encodable, Sendable {
        let id: String
        let primaryUsers: [String]
        let secondaryUsers: [String]

        private enum CodingKeys: String, CodingKey {
            case id
            case primaryUsers = "primary_users"
            case secondaryUsers = "secondary_users"
        }
    }

    init(_ all: [Sharing]) {
        shared = all.map { Entry(id: $0.id, primaryUsers: $0.primaryUsers, secondaryUsers: $0.secondaryUsers) }
    }

    var text: String {
        shared.map { entry in
            let others =
                entry.secondaryUsers.isEmpty ? "" : "  shared with \(entry.secondaryUsers.joined(separator: ", "))"
            return "\(entry.id)  \(entry.primaryUsers.joined(separator: ", "))\(others)".onOneLine
        }.joined(separator: "\n")
    }
}

/// Offers that wait for an answer, or were declined.
struct SharingRequestsResult: CommandResult {
    let requests: [Entry]
    private let areSent: Bool

    private enum CodingKeys: CodingKey { case requests }

    struct Entry: Encodable, Sendable {
        let requestID: String
        let status: String
        let ids: [String]
        let userName: String?
        let ownerName: String?
        let requestedAt: String?

        private enum CodingKeys: String, CodingKey {
            case requestID = "request_id"
            case status, ids
            case userName = "user_name"
            case ownerName = "owner_name"
            case requestedAt = "requested_at"
        }
    }

    init(_ all: [SharingRequest], areSent: Bool) {
        self.areSent = areSent
        requests = all.map {
            Entry(
                requestID: $0.id, status: $0.status, ids: $0.subjects, userName: $0.userName, ownerName: $0.ownerName,
                requestedAt: $0.requestedAt.map { Timestamp.text($0) })
        }
    }

    var text: String {
        if requests.isEmpty { return "There are no requests." }
        return requests.map { entry in
            let other = areSent ? "to \(entry.userName ?? "?")" : "from \(entry.ownerName ?? "?")"
            return "\(entry.requestID)  \(entry.status)  \(other)  \(entry.ids.joined(separator: ", "))".onOneLine
        }.joined(separator: "\n")
    }
}
