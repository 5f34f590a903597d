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
