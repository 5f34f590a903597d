// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainIO
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

/// What boards have answered to a command.
struct CommandRecordsResult: CommandResult {
    let requestID: String
    let nodes: [Entry]
    /// With --no-wait it was only sent: boards without an answer have not failed to give one.
    private let isOnlySent: Bool

    private enum CodingKeys: String, CodingKey {
        case requestID = "request_id"
        case nodes
    }

    struct Entry: Encodable, Sendable {
        let nodeID: String
        /// `requested`, `in_progress`, `success`, `failure`, `timed_out`, or `refused` by the cloud.
        let status: String
        let message: String?
        let response: JSONValue?
        let errorCode: Int?

        private enum CodingKeys: String, CodingKey {
            case nodeID = "node_id"
            case status, message, response
            case errorCode = "error_code"
        }
    }

    /// - Parameters:
    ///   - refused: those to which the cloud did not send it.
    ///   - asked: all that it was to go to. What the cloud has told nothing of yet is `requested`.
    init(
        _ request: RequestID, _ records: [NodeCommandRecord], refused: [ParameterOutcome] = [], asked: [NodeID] = [],
        isOnlySent: Bool = false
    ) {
        requestID = request.rawValue
        self.isOnlySent = isOnlySent
        let told = Set(records.map(\.node) + refused.map(\.node))
        nodes =
            records.map { record in
                let status =
                    switch record.status {
                    case .requested: "requested"
                    case .inProgress: "in_progress"
                    case .success: "success"
                    case .failure: "failure"
                    case .timedOut: "timed_out"
                    case .other(let word): word
                    }
                return Entry(
                    nodeID: record.node.rawValue, status: status, message: record.summary, response: record.response,
                    errorCode: nil)
            }
            + asked.filter { !told.contains($0) }.map {
                Entry(nodeID: $0.rawValue, status: "requested", message: nil, response: nil, errorCode: nil)
            }
            + refused.map {
                Entry(
                    nodeID: $0.node.rawValue, status: "refused", message: $0.failure, response: nil,
                    errorCode: $0.serverCode)
            }
    }

    var text: String {
        let see = "rainctl node command result \(requestID.asShellWord)"
        let shown = isOnlySent ? nodes.filter { $0.status != "requested" } : nodes
        var lines = shown.map { entry in
            let words =
                switch entry.status {
                case "success": entry.response.map(\.shown) ?? "done"
                case "requested": "has not answered yet"
                case "in_progress": "is at it"
                case "timed_out": "has not answered in time"
                case "refused": "was not sent it: \(entry.message ?? "")"
                default: "failed: \(entry.message ?? entry.status)"
                }
            return "\(entry.nodeID)  \(words)".onOneLine
        }
        if nodes.isEmpty || shown.count < nodes.count { lines.append("sent; see the answers with: \(see)") }
        return lines.joined(separator: "\n")
    }

    /// Throws where not all boards have done it, so that a script notices. For people what there is is printed before.
    func checked(_ output: Output) throws(CommandFailure) -> Self {
        guard var failure else { return self }
        if !output.isJSON { output.result(self) }
        failure.result = self
        throw failure
    }

    /// Nil where all boards have done it, or were only to be sent it and were.
    var failure: CommandFailure? {
        let failed = nodes.filter { !["success", "requested", "in_progress", "timed_out"].contains($0.status) }
        guard failed.isEmpty else {
            let words = failed.prefix(5).map { "\($0.nodeID): \($0.message ?? $0.status)".onOneLine }
            let reason = nodes.count == failed.count ? "all_failed" : "some_failed"
            return CommandFailure(
                nodes.count == 1 ? .other : .batchPartial, reason: nodes.count == 1 ? "rejected" : reason,
                message: "The command was not done by \(words.joined(separator: "; "))."
                    + (isOnlySent ? "" : silence.map { " \($0.message)" } ?? ""))
        }
        return isOnlySent ? nil : silence
    }

    /// Boards that have not answered: within the time of this command, or within that for which the cloud kept it.
    private var silence: CommandFailure? {
        let expired = nodes.filter { $0.status == "timed_out" }
        let open = nodes.filter { ["requested", "in_progress"].contains($0.status) }
        guard !expired.isEmpty || !open.isEmpty || nodes.isEmpty else { return nil }
        let names = { (entries: [Entry]) in entries.prefix(5).map(\.nodeID.onOneLine).joined(separator: ", ") }
        var sentences: [String] = []
        if !expired.isEmpty {
            sentences.append(
                """
                The cloud has given the command up, since it was not answered while it was kept (--keep of rainctl node command send) by \
                \(names(expired)): send it again, with a longer --keep for boards that are away.
                """)
        }
        if !open.isEmpty || nodes.isEmpty {
            sentences.append(
                """
                The command was not answered in time (--timeout)\(open.isEmpty ? "" : " by \(names(open))"); \
                rainctl node command result \(requestID.asShellWord) shows what comes later.
                """)
        }
        let isAll = nodes.count == expired.count + open.count
        return CommandFailure(
            isAll ? .deadline : .batchPartial, reason: isAll ? nil : "some_silent",
            message: sentences.joined(separator: " "))
    }
}

/// The answers of boards to a command, asked for until all are there.
struct CommandAnswers: Sendable {
    let cloud: RainMakerCloud
    let request: RequestID
    /// Where this process has sent it: those that it was to go to, and those to which the cloud did not send it.
    var asked: [NodeID] = []
    var refused: [ParameterOutcome] = []

    /// Throws `no_such_request` where the cloud does not know the request.
    func now() async throws(CommandFailure) -> [NodeCommandRecord] {
        do throws(AccountError) { return try await cloud.commandRecords(request) } catch { throw failure(error) }
    }

    /// All of them, or what there is when the time is over. Throws what the cloud has said last where it has not told anything in that time, and
    /// a refusal at once.
    func all(within limit: Duration) async throws -> [NodeCommandRecord] {
        let end = ContinuousClock.now + limit
        /// For the last question, of what `leftForWaiting` has left.
        let moment = min(.milliseconds(250), limit / 4)
        var pause = Duration.milliseconds(100)
        var records: [NodeCommandRecord] = []
        // Nobody is left who could answer.
        if !asked.isEmpty, open.isEmpty { return records }
        /// Why nothing is known for the moment: at first nothing was told yet.
        var fault: AccountError? = Self.silence
        while true {
            let start = ContinuousClock.now
            do throws(AccountError) {
                if let answer = try await latest(within: max(ContinuousClock.now.duration(to: end), moment)) {
                    (records, fault) = (answer, nil)
                    if isWhole(records) { return records }
                } else if ContinuousClock.now - start >= .seconds(1) {
                    // An answer that has been owed for long is none; a question that the end of the time has cut off says nothing.
                    fault = Self.silence
                }
            } catch {
                // The command is on its way: a call that fails for the moment is made again.
                guard error.isTransient else { throw untold(error, records) }
                fault = error
            }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else {
                if records.isEmpty, let fault { throw untold(fault, records) }
                return records
            }
            do { try await Task.sleep(for: min(pause, left)) } catch {
                throw untold(AccountError(.cancelled, message: "Cancelled."), records)
            }
            pause = min(pause * 3 / 2, .seconds(2))
        }
    }

    private static let silence = AccountError(.timeout, message: "the cloud did not answer in time")

    /// Those who can answer, where this process has sent it.
    private var open: [NodeID] { asked.filter { node in !refused.contains { $0.node == node } } }

    /// Whether each board has said its last word. A list may have some boards before others.
    private func isWhole(_ records: [NodeCommandRecord]) -> Bool {
        guard asked.isEmpty else {
            return open.allSatisfy { node in records.contains { $0.node == node && $0.status.isFinal } }
        }
        return !records.isEmpty && records.allSatisfy(\.status.isFinal)
    }

    /// What the cloud knows; nil where it has not told that in time.
    private func latest(within limit: Duration) async throws(AccountError) -> [NodeCommandRecord]? {
        let (cloud, request) = (cloud, request)
        let answer = await withDeadline(limit, sleep: { try await Task.sleep(for: $0) }) {
            () async throws(AccountError) in try await cloud.commandRecords(request)
        }
        if answer == nil, Task.isCancelled { throw AccountError(.cancelled, message: "Cancelled.") }
        return try answer?.get()
    }

    /// The command is out, whatever the cloud says now: its id is told, and what is known of the boards.
    private func untold(_ error: AccountError, _ records: [NodeCommandRecord]) -> CommandFailure {
        var failure = failure(error)
        if error.serverCode != RainMakerCloud.unknownRequest {
            failure.message +=
                " The cloud has the command, and did not say what became of it: rainctl node command result \(request.rawValue.asShellWord) "
                + "shows the answers."
        }
        if !asked.isEmpty || !records.isEmpty {
            failure.result = CommandRecordsResult(request, records, refused: refused, asked: asked)
        }
        return failure
    }

    private func failure(_ error: AccountError) -> CommandFailure {
        guard error.serverCode == RainMakerCloud.unknownRequest else { return CommandFailure(error) }
        return CommandFailure(
            .other, reason: "no_such_request",
            message: """
                The cloud knows no command with the request id \(request.rawValue.onOneLine), or has forgotten it: \
                rainctl node command send shows the id.
                """)
    }
}
