// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainIO
import RainJSON
import RainKit
import RainMaker

struct NodeCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "command",
        abstract: "Send commands that a board's firmware defines, and show the boards' answers.",
        subcommands: [
            NodeCommandSend.self, NodeCommandResult.self, NodeCommandList.self, NodeCommandCancel.self,
        ])
}

struct NodeCommandSend: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "send", abstract: "Send a command to boards and wait for their answers.",
        discussion: """
            Example: rainctl node command send 'Kitchen lamp' 4096 --data '{"level":3}'

            If a board is offline, the cloud keeps the command for the time of --keep. With --no-wait, rainctl only sends the command. To \
            see the answers later, run rainctl node command result.
            """)

    @Argument(help: "Up to 25 boards, by node id or name, separated by commas.", completion: .nodes)
    var nodes: String

    @Argument(
        help: ArgumentHelp(
            "The command's number in the firmware: 1 to 65535, or hexadecimal such as 0x1000.", valueName: "number"))
    var command: String

    @Option(help: ArgumentHelp("Send this JSON with the command.", valueName: "json"))
    var data: String?

    @Option(help: ArgumentHelp("Send these bytes with the command, as hex digits.", valueName: "digits"))
    var hex: String?

    @Option(
        help: ArgumentHelp("Send the bytes of this file with the command (- for standard input).", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp(
            "If a board is offline, let the cloud keep the command for this time, such as 12h or 7d. The maximum is 30d.",
            valueName: "time"))
    var keep = SpanArgument(.seconds(30))

    @Flag(
        name: .customLong("override"),
        help: "Replace an unanswered command that has the same number and the same boards.")
    var overrides = false

    @Flag(inversion: .prefixedNo, help: "Wait for the answers.")
    var wait = true

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    private var number: UInt16? { CommandNumber.read(command) }

    func validate() throws {
        guard number != nil else {
            throw ValidationError("\(CommandNumber.words), not \(command.onOneLine).")
        }
        guard [data, hex, file].count(where: { $0 != nil }) <= 1 else {
            throw ValidationError("Give the data with only one of --data, --hex and --file.")
        }
        guard RainMakerCloud.commandLifetime.contains(keep.duration.components.seconds) else {
            throw ValidationError("--keep must be 1 second to 30 days, such as 30s, 12h or 7d.")
        }
    }

    func result(_ scene: CloudScene) async throws -> CommandRecordsResult {
        guard let number else { throw CommandFailure(.usage, message: "\(CommandNumber.words).") }
        let payload = try given(within: scene.time.left)
        let (names, lifetime, overrides) = (nodes, keep.duration, overrides)
        let (request, away) = try await scene.time.run {
            let found = try await scene.client.nodes(listed: names)
            let away = found.filter { $0.connectivity?.isConnected == false }.map(\.id)
            return (
                try await scene.client.sendCommand(
                    number, payload, to: found.map(\.id), keptFor: lifetime, overriding: overrides), away
            )
        }
        guard wait else {
            return try CommandRecordsResult(
                NodeCommandAnswers(request: request, records: []), isOnlySent: true, names: scene.boardNames
            )
            .checked(scene.context.output)
        }
        let answers = await scene.client.answers(to: request, waiting: scene.time.leftForWaiting)
        return try CommandRecordsResult.known(answers, away: away, names: scene.boardNames).checked(
            scene.context.output)
    }

    private func given(within limit: Duration) throws(CommandFailure) -> RainMakerCloud.CommandData {
        if let data { return .json(try Payload.json(data, option: "--data")) }
        guard hex != nil || file != nil else { return .json(.object([])) }
        return .bytes(try Payload(hex: hex, file: file).bytes(within: limit))
    }
}

struct NodeCommandResult: CloudCommand, ListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "result", abstract: "Show the boards' answers to a command.",
        discussion: "Example: rainctl node command result REQUEST")

    @Argument(help: "The request's id, which rainctl node command send printed.")
    var request: String

    @Flag(help: "Wait for the answers.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> CommandRecordsResult {
        let request = NodeCommandRequest(id: RequestID(request))
        guard wait else {
            let records = try await scene.time.run { try await scene.client.answers(to: request.id) }
            return CommandRecordsResult(
                NodeCommandAnswers(request: request, records: records), names: scene.boardNames)
        }
        let answers = await scene.client.answers(to: request, waiting: scene.time.leftForWaiting)
        return try CommandRecordsResult.known(answers, names: scene.boardNames).checked(scene.context.output)
    }
}

/// A command's number on the command line.
private enum CommandNumber {
    static let words = "A command must be a number from 1 to 65535"

    /// Returns the number, 1 to 65535; nil if it is not one.
    static func read(_ text: String) -> UInt16? {
        let isHex = text.lowercased().hasPrefix("0x")
        let digits = isHex ? text.dropFirst(2) : text[...]
        guard digits.allSatisfy(\.isHexDigit) else { return nil }
        return UInt16(digits, radix: isHex ? 16 : 10).flatMap { $0 == 0 ? nil : $0 }
    }
}

/// A command's state on the command line.
enum CommandStatusArgument: String, WordArgument {
    case requested
    case inProgress = "in_progress"
    case success, failure
    case timedOut = "timed_out"
    case overridden, cancelled

    fileprivate var status: NodeCommandRecord.Status { NodeCommandRecord.Status(rawValue) }
}

struct NodeCommandList: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "list",
        abstract: "List the commands that were sent to one board or to all boards. The newest comes first.",
        discussion: """
            Example: rainctl node command list 'Kitchen lamp'
                     rainctl node command list --status requested
            """)

    @Argument(
        help: "The board: its node id or name (default: all boards). Without a board, --status is required.",
        completion: .nodes)
    var node: String?

    @Option(help: "List only commands in this state.")
    var status: CommandStatusArgument?

    @Option(help: ArgumentHelp("List at most this many commands.", valueName: "n"))
    var count = 20

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard (1...1000).contains(count) else { throw ValidationError("--count must be from 1 to 1000.") }
        guard node != nil || status != nil else {
            throw ValidationError("Name a board. For the commands to all boards, give --status.")
        }
    }

    func result(_ scene: CloudScene) async throws -> CommandListResult {
        let (name, status, count) = (node, status?.status, count)
        return try await scene.time.run {
            var node: Node?
            if let name { node = try await scene.client.node(named: name) }
            return CommandListResult(
                node?.id, try await scene.client.commands(of: node?.id, in: status, atMost: count),
                names: scene.boardNames)
        }
    }
}

struct NodeCommandCancel: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "cancel", abstract: "Cancel commands that boards have not answered.",
        discussion: """
            Example: rainctl node command cancel REQUEST
                     rainctl node command cancel --of 'Kitchen lamp' --number 4096

            A board may still execute a command that it has already received.
            """)

    @Argument(help: "The request's id, which rainctl node command send printed.")
    var request: String?

    @Option(
        help: ArgumentHelp("Cancel only the commands to this board, given by id or name.", valueName: "node"),
        completion: .nodes)
    var of: String?

    @Option(help: ArgumentHelp("Cancel only commands with this number (with --of).", valueName: "number"))
    var number: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard request != nil || of != nil else { throw ValidationError("Give a request's id, or a board with --of.") }
        if let request, request.isBlank { throw ValidationError("The request's id must not be empty.") }
        guard let number else { return }
        guard of != nil, request == nil else {
            throw ValidationError("--number works only with --of: give --of instead of the request's id.")
        }
        guard CommandNumber.read(number) != nil else {
            throw ValidationError("\(CommandNumber.words), not \(number.onOneLine).")
        }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (request, of) = (request.map { RequestID($0) }, of)
        let number = number.flatMap { CommandNumber.read($0) }
        return try await scene.time.run {
            var node: Node?
            if let of { node = try await scene.client.node(named: of) }
            let count: Int?
            if let request {
                count = try await scene.client.cancelCommand(request, at: node?.id)
            } else if let node {
                count = try await scene.client.cancelCommands(of: node.id, number: number)
            } else {
                throw CommandFailure(.usage, message: "Give a request's id, or a board with --of.")
            }
            let words =
                switch count {
                case 0: "No command was waiting: all commands are answered, cancelled or expired"
                case 1: "Cancelled 1 command"
                case let count?: "Cancelled \(count) commands"
                case nil: "Cancelled the commands that were waiting"
                }
            var result = ActionResult(words, isChange: count != 0).with("cancelled", count != 0)
            if let count { result = result.with("count", count) }
            if let request { result = result.with("request_id", request.rawValue) }
            if let node { result = result.with("node_id", node.id.rawValue) }
            return result
        }
    }
}

/// The commands that were sent to a board, or to all boards.
struct CommandListResult: CommandResult {
    /// The board; nil for a list of all boards' commands.
    let nodeID: String?
    let commands: [Entry]
    @TextOnly private var names: ShownNames

    struct Entry: Encodable, Sendable {
        let requestID: String?
        let nodeID: String
        let command: Int?
        /// As in the result of `node command result`.
        let status: String
        let sentAt: String?
        let message: String?
        let response: JSONValue?

        /// - Parameter board: the board's name, in a list of all boards' commands.
        fileprivate func line(_ board: String?) -> String {
            let parts = [
                sentAt, requestID, board, command.map { "command \($0)" }, status, response?.shown ?? message,
            ]
            return parts.compactMap(\.self).joined(separator: "  ").onOneLine
        }
    }

    init(_ node: NodeID?, _ records: [NodeCommandRecord], names: ShownNames = ShownNames()) {
        nodeID = node?.rawValue
        self.names = names
        commands = records.map { record in
            Entry(
                requestID: record.request?.rawValue, nodeID: record.node.rawValue, command: record.command,
                status: record.status.word,
                sentAt: record.sent.map { Timestamp.text($0) }, message: record.summary, response: record.response)
        }
    }

    var text: String {
        guard commands.isEmpty else {
            return commands.map { $0.line(nodeID == nil ? names[$0.nodeID] : nil) }.joined(separator: "\n")
        }
        return nodeID == nil ? "No commands were found." : "No such command was sent to this board."
    }
}

/// The answers of boards to a command.
struct CommandRecordsResult: CommandResult {
    let requestID: String
    let nodes: [Entry]
    /// Whether the command was only sent (`--no-wait`). A missing answer is not a failure then.
    @TextOnly private var isOnlySent: Bool
    /// The boards that were offline when it was sent.
    @TextOnly private var away: [NodeID]
    @TextOnly private(set) var names: ShownNames

    struct Entry: Encodable, Sendable {
        let nodeID: String
        /// The state: `requested`, `in_progress`, `success`, `failure`, `timed_out`, or `refused` by the cloud.
        let status: String
        let message: String?
        let response: JSONValue?
        let errorCode: Int?
    }

    /// - Parameters:
    ///   - away: the nodes that were offline when the command was sent.
    ///   - isOnlySent: whether the command ends without waiting for answers.
    ///   - names: the boards' names, for people.
    init(
        _ answers: NodeCommandAnswers, away: [NodeID] = [], isOnlySent: Bool = false, names: ShownNames = ShownNames()
    ) {
        self.names = names
        let (records, request) = (answers.records, answers.request)
        requestID = request.id.rawValue
        self.away = away
        self.isOnlySent = isOnlySent
        let told = Set(records.map(\.node) + request.refused.map(\.node))
        nodes =
            records.map { record in
                Entry(
                    nodeID: record.node.rawValue, status: record.status.word, message: record.summary,
                    response: record.response,
                    errorCode: nil)
            }
            + request.nodes.filter { !told.contains($0) }.map {
                Entry(nodeID: $0.rawValue, status: "requested", message: nil, response: nil, errorCode: nil)
            }
            + request.refused.map {
                Entry(
                    nodeID: $0.node.rawValue, status: "refused", message: $0.failure, response: nil,
                    errorCode: $0.serverCode)
            }
    }

    /// Returns the result. Throws if the cloud does not report the command's state; the error's document has the request's id, because the
    /// command was sent.
    static func known(
        _ answers: NodeCommandAnswers, away: [NodeID] = [], names: ShownNames
    ) throws(CommandFailure) -> Self {
        let result = Self(answers, away: away, names: names)
        guard let error = answers.unknown else { return result }
        var failure = CommandFailure(error)
        if error.reason != "no_such_request" {
            failure.message +=
                " The cloud has the command, but did not report its state. To see the answers, run: "
                + commandLine("node command result \(answers.request.id.rawValue.asShellWord)")
        }
        if !result.nodes.isEmpty { failure.result = result }
        throw failure
    }

    var text: String { text { $0.onOneLine } }

    /// - Parameter shownName: the text for a board's id.
    fileprivate func text(_ shownName: (String) -> String) -> String {
        let see = commandLine("node command result \(requestID.asShellWord)")
        let shown = isOnlySent ? nodes.filter { $0.status != "requested" } : nodes
        var lines = shown.map { entry in
            let words =
                switch entry.status {
                case "success": entry.response.map(\.shown) ?? "done"
                case "requested": "has not answered yet"
                case "in_progress": "is executing the command"
                case "timed_out": "has not answered in time"
                case "cancelled": "did not answer: the command was cancelled"
                case "overridden": "did not answer: a newer command replaced this one"
                case "refused": "did not get the command: \(entry.message ?? "")"
                default: "failed: \(entry.message ?? entry.status)"
                }
            return "\(shownName(entry.nodeID))  \(words)".onOneLine
        }
        if nodes.isEmpty || shown.count < nodes.count { lines.append("sent; see the answers with: \(see)") }
        return lines.joined(separator: "\n")
    }

    /// Throws if not all boards have executed the command, so that a script notices. In text mode, the result is printed before.
    func checked(_ output: Output) throws(CommandFailure) -> Self {
        guard var failure else { return self }
        if !output.isJSON { output.result(self) }
        failure.result = self
        throw failure
    }

    /// Nil if all boards have executed the command, or if it was only sent and no board was refused.
    var failure: CommandFailure? {
        let failed = nodes.filter { !["success", "requested", "in_progress", "timed_out"].contains($0.status) }
        guard failed.isEmpty else {
            let words = failed.prefix(5).map { "\(names[$0.nodeID]): \($0.message ?? $0.status)".onOneLine }
            let reason = nodes.count == failed.count ? "all_failed" : "some_failed"
            return CommandFailure(
                nodes.count == 1 ? .other : .batchPartial, reason: nodes.count == 1 ? "rejected" : reason,
                message:
                    "\(failed.count == 1 ? "This board" : "These boards") did not execute the command: \(words.joined(separator: "; "))."
                    + (isOnlySent ? "" : silence.map { " \($0.message)" } ?? ""))
        }
        return isOnlySent ? nil : silence
    }

    /// A failure if boards have not answered within `--timeout`, or within the time for which the cloud kept the command.
    private var silence: CommandFailure? {
        let expired = nodes.filter { $0.status == "timed_out" }
        let open = nodes.filter { ["requested", "in_progress"].contains($0.status) }
        guard !expired.isEmpty || !open.isEmpty || nodes.isEmpty else { return nil }
        let shown = names
        let names = { (entries: [Entry]) in
            entries.prefix(5).map { entry in
                shown[entry.nodeID] + (away.contains(NodeID(entry.nodeID)) ? " (it is offline)" : "")
            }.joined(separator: ", ")
        }
        var sentences: [String] = []
        if !expired.isEmpty {
            sentences.append(
                """
                No answer came from \(names(expired)) within the command's --keep time. The cloud no longer keeps the command, so send \
                the command again. For a board that is offline, give a longer --keep.
                """)
        }
        if !open.isEmpty || nodes.isEmpty {
            sentences.append(
                """
                No answer came in time (--timeout)\(open.isEmpty ? "" : " from \(names(open))"). To see later answers, use \
                \(commandLine("node command result \(requestID.asShellWord)")).
                """)
        }
        let isAll = nodes.count == expired.count + open.count
        return CommandFailure(
            isAll ? .deadline : .batchPartial, reason: isAll ? nil : "some_silent",
            message: sentences.joined(separator: " "))
    }
}

extension CommandRecordsResult: ListResult {
    var table: ListTable {
        ListTable(member: "nodes", columns: ["node_id", "status", "message", "error_code", "response"])
    }
}

extension CommandRecordsResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String { text { names[$0] } }
}
