// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

struct NodeCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "command", abstract: "Commands that a board's firmware has of its own, and their answers.",
        subcommands: [NodeCommandSend.self, NodeCommandResult.self])
}

struct NodeCommandSend: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send a command to boards, and wait for their answers.",
        discussion: """
            Example: rainctl node command send 'Kitchen lamp' 4096 --data '{"level":3}'

            The cloud keeps the command for boards that are away (--keep). With --no-wait it is only sent, and rainctl node command result \
            shows the answers later.
            """)

    @Argument(help: "The board or boards, NODE[,NODE…]: node ids, or the names that you gave them; at most 25.")
    var nodes: String

    @Argument(
        help: ArgumentHelp(
            "The command's number in the firmware, 1 to 65535; 0x1000 is meant as hex.", valueName: "number"))
    var command: String

    @Option(help: ArgumentHelp("Send this JSON with it.", valueName: "json"))
    var data: String?

    @Option(help: ArgumentHelp("Send these bytes with it.", valueName: "digits"))
    var hex: String?

    @Option(
        help: ArgumentHelp("Send the bytes of this file with it; - is standard input.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp(
            "How long the cloud keeps it for boards that are away: 30s, 12h, 7d, at most 30d.", valueName: "time"))
    var keep = SpanArgument(.seconds(30))

    @Flag(inversion: .prefixedNo, help: "Wait for the answers.")
    var wait = true

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    /// Nil for what is none.
    private var number: UInt16? {
        let isHex = command.lowercased().hasPrefix("0x")
        let digits = isHex ? command.dropFirst(2) : command[...]
        guard digits.allSatisfy(\.isHexDigit) else { return nil }
        return UInt16(digits, radix: isHex ? 16 : 10).flatMap { $0 == 0 ? nil : $0 }
    }

    func validate() throws {
        guard number != nil else {
            throw ValidationError("A command is a number from 1 to 65535, not \(command.onOneLine).")
        }
        guard [data, hex, file].count(where: { $0 != nil }) <= 1 else {
            throw ValidationError("Give the data once: --data, --hex or --file.")
        }
        guard RainMakerCloud.commandLifetime.contains(keep.duration.components.seconds) else {
            throw ValidationError("--keep is 1 second to 30 days, such as 30s, 12h or 7d.")
        }
    }

    func result(_ scene: CloudScene) async throws -> CommandRecordsResult {
        guard let number else { throw CommandFailure(.usage, message: "A command is a number from 1 to 65535.") }
        let payload = try given(within: scene.time.left)
        let (names, lifetime) = (nodes, keep.duration.components.seconds)
        let (asked, sent) = try await scene.time.run {
            let nodes = try await scene.choice.nodes(names).map(\.id)
            guard nodes.count <= RainMakerCloud.nodesPerCommand else {
                throw CommandFailure(
                    .usage, message: "A command goes to at most \(RainMakerCloud.nodesPerCommand) boards at once.")
            }
            return (nodes, try await scene.cloud.sendCommand(number, payload, to: nodes, lifetime: lifetime))
        }
        var records: [NodeCommandRecord] = []
        if wait {
            let answers = CommandAnswers(
                cloud: scene.cloud, request: sent.request, asked: asked, refused: sent.refused)
            records = try await answers.all(within: scene.time.leftForWaiting)
        }
        return try CommandRecordsResult(
            sent.request, records, refused: sent.refused, asked: asked, isOnlySent: !wait
        ).checked(scene.context.output)
    }

    private func given(within limit: Duration) throws(CommandFailure) -> RainMakerCloud.CommandData {
        if let data {
            guard let json = try? JSONValue(parsing: Array(data.utf8)) else {
                throw CommandFailure(.usage, message: "--data takes one JSON document.")
            }
            return .json(json)
        }
        guard hex != nil || file != nil else { return .json(.object([])) }
        return .bytes(try Payload(hex: hex, file: file).bytes(within: limit))
    }
}

struct NodeCommandResult: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "result", abstract: "Show what boards have answered to a command.",
        discussion: "Example: rainctl node command result REQUEST")

    @Argument(help: "The request's id, as rainctl node command send shows it.")
    var request: String

    @Flag(help: "Wait for the answers.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> CommandRecordsResult {
        let answers = CommandAnswers(cloud: scene.cloud, request: RequestID(request))
        let records =
            wait
            ? try await answers.all(within: scene.time.leftForWaiting)
            : try await scene.time.run { try await answers.now() }
        let result = CommandRecordsResult(answers.request, records)
        return wait ? try result.checked(scene.context.output) : result
    }
}
