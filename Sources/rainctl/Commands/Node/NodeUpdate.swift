// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

/// Updates that somebody has made in the deployment's dashboard.
struct NodeUpdate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Install firmware updates that were created in RainMaker's dashboard.",
        discussion: """
            Example: rainctl node update start 'Kitchen lamp'

            To send an image of your own to a board, use rainctl node ota.
            """,
        subcommands: [NodeUpdateCheck.self, NodeUpdateStart.self, NodeUpdateStatus.self])
}

struct NodeUpdateCheck: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "check", abstract: "Show whether the cloud offers an update for a board.",
        discussion: "Example: rainctl node update check 'Kitchen lamp'")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> UpdateOfferResult {
        let (name, client) = (node, scene.client)
        return try await scene.time.run {
            let found = try await client.node(named: name)
            return UpdateOfferResult(try await client.updateOffer(for: found), for: found)
        }
    }
}

struct NodeUpdateStart: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "start", abstract: "Approve an update, and wait until the board has installed it.",
        discussion: """
            Example: rainctl node update start 'Kitchen lamp'

            The board downloads the image itself. Some updates are valid only for a period, or only at certain hours of each day. The \
            board downloads such an update only in that time. Ctrl-C ends the command, but not the update.
            """)

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Option(help: ArgumentHelp("The update's id (default: the update that the cloud offers).", valueName: "id"))
    var job: String?

    @Flag(inversion: .prefixedNo, help: "Wait until the board has installed the image.")
    var wait = true

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(300))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> UpdateJobResult {
        let (name, client, id) = (node, scene.client, job)
        let found = try await scene.time.run { try await client.node(named: name) }
        let screen = UpdateScreen(scene.context, options)
        let report: @Sendable (FirmwareUpdateEvent) -> Void = { screen.take($0, of: found) }
        let limit = scene.time.left
        let started = try await scene.time.run {
            try await client.startUpdate(id.map { UpdateJob(id: $0) }, at: found, within: limit, report: report)
        }
        guard wait else { return UpdateJobResult(started.job, at: found, nil) }
        return try await scene.follow(started, screen, report)
    }
}

struct NodeUpdateStatus: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "status", abstract: "Show the progress of an update.",
        discussion: """
            Example: rainctl node update status 'Kitchen lamp' --wait

            The cloud no longer offers an update that has ended. To see such an update, give its id with --job.
            """)

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Option(help: ArgumentHelp("The update's id (default: the update that the cloud offers).", valueName: "id"))
    var job: String?

    @Flag(help: "Wait until the update has ended.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(300))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> UpdateJobResult {
        let (name, client, id) = (node, scene.client, job)
        let (found, offered) = try await scene.time.run {
            let found = try await client.node(named: name)
            return (found, id == nil ? try await client.updateOffer(for: found).job : nil)
        }
        guard let job = id.map({ UpdateJob(id: $0) }) ?? offered else {
            throw CommandFailure(
                .other, reason: "no_update",
                message:
                    "The cloud has no update for \(found.shownName). To see an update that has already ended, give its id with --job."
            )
        }
        guard wait else {
            let report = try await scene.time.run { try await client.updateReport(of: job.id, at: found) }
            return UpdateJobResult(job, at: found, report)
        }
        let screen = UpdateScreen(scene.context, options)
        let report: @Sendable (FirmwareUpdateEvent) -> Void = { screen.take($0, of: found) }
        return try await scene.follow(StartedUpdateJob(following: job, at: found), screen, report)
    }
}

extension CloudScene {
    fileprivate func follow(
        _ started: StartedUpdateJob, _ screen: UpdateScreen, _ report: @escaping @Sendable (FirmwareUpdateEvent) -> Void
    ) async throws -> UpdateJobResult {
        let node = started.node
        async let _ = screen.count("waiting for \(node.shownName)")
        let outcome = try await client.follow(started, for: time.leftForWaiting, report: report)
        let result = UpdateJobResult(outcome.job, at: node, outcome.report)
        guard let error = outcome.error(at: node) else { return result }
        var failure = CommandFailure(error)
        failure.result = result
        throw failure
    }
}

extension UpdateOfferResult: CommandResult {
    var isProse: Bool { true }

    var text: String {
        let has = currentVersion.map { "\(name) has \($0)" } ?? name
        guard available else { return "\(has): no update" + (description.map { " (\($0))" } ?? "") }
        var lines = [
            "\(has): \(version ?? "an update") is available" + (size.map { ", \(($0 + 1023) / 1024) KiB" } ?? "")
        ]
        if let downloadWindow {
            lines.append("the board downloads the update from \(downloadWindow), by its own clock")
        }
        if let validFrom { lines.append("valid from \(validFrom)") }
        if let validUntil { lines.append("valid until \(validUntil)") }
        lines.append("install the update with: \(commandLine("node update start \(nodeID.onOneLine.asShellWord)"))")
        return lines.map(\.onOneLine).joined(separator: "\n")
    }
}

extension UpdateJobResult: CommandResult {
    var isProse: Bool { true }

    var text: String {
        let what = version ?? "update \(jobID)"
        let words =
            switch state {
            case "success", "completed": "has installed \(what)"
            case "sent": "was asked to fetch \(what); see its progress with: \(status)"
            default: "\(what) is \(state)" + (info.map { ": \($0)" } ?? "")
            }
        return
            (state == "success" || state == "completed" || state == "sent" ? "\(name) \(words)" : "\(name): \(words)")
            .onOneLine
    }

    private var status: String {
        commandLine("node update status \(nodeID.onOneLine.asShellWord) --job \(jobID.onOneLine.asShellWord)")
    }
}
