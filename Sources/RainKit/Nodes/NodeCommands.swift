// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// A command that was sent to nodes.
public struct NodeCommandRequest: Sendable {
    /// The cloud's id for it.
    public var id: RequestID
    /// The nodes that it was sent for; empty if this is not known, as for the command of another process.
    public var nodes: [NodeID]
    /// The nodes to which the cloud did not send it, and why.
    public var refused: [ParameterOutcome]

    public init(id: RequestID, nodes: [NodeID] = [], refused: [ParameterOutcome] = []) {
        self.id = id
        self.nodes = nodes
        self.refused = refused
    }

    /// The nodes that can answer.
    fileprivate var open: [NodeID] { nodes.filter { node in !refused.contains { $0.node == node } } }

    /// Whether the answers of all nodes are final. The cloud's list may have some nodes before others.
    fileprivate func isAnswered(by records: [NodeCommandRecord]) -> Bool {
        if nodes.isEmpty { return !records.isEmpty && records.allSatisfy(\.status.isFinal) }
        return open.allSatisfy { node in records.contains { $0.node == node && $0.status.isFinal } }
    }
}

/// The answers of nodes to a command.
public struct NodeCommandAnswers: Sendable {
    /// The command.
    public var request: NodeCommandRequest
    /// The last known state at each node. Nodes of which the cloud has not said anything yet are missing.
    public var records: [NodeCommandRecord]
    /// Why more is not known: the cloud refused to say, did not answer, or does not know the request (`no_such_request`); `cancelled` if the
    /// task was cancelled. Nil if the answers are complete, or as complete as the time allowed.
    public var unknown: RainKitError?

    public init(request: NodeCommandRequest, records: [NodeCommandRecord], unknown: RainKitError? = nil) {
        self.request = request
        self.records = records
        self.unknown = unknown
    }

    /// Whether each node that can answer has given its final answer. That may be a failure.
    public var isComplete: Bool { unknown == nil && request.isAnswered(by: records) }
}

extension RainKitClient {
    /// Sends a command of the firmware's own to nodes. The nodes' answers come later: see ``answers(to:waiting:)``.
    ///
    /// ```swift
    /// let request = try await kit.sendCommand(0x1000, .json(["level": 3]), to: [lamp.id])
    /// let answers = await kit.answers(to: request, waiting: .seconds(10))
    /// ```
    ///
    /// - Parameters:
    ///   - command: the firmware's number for it, from 1 on.
    ///   - nodes: at most 25.
    ///   - lifetime: how long the cloud keeps the command for nodes that are offline: 1 second to 30 days; nil for no limit.
    ///   - overrides: whether it replaces an unanswered command with the same number at the same node.
    /// - Throws: `RainKitError`: `usage` for a number, nodes or a lifetime out of these bounds; the cloud's refusals.
    public func sendCommand(
        _ command: UInt16, _ data: RainMakerCloud.CommandData = .json([:]), to nodes: [NodeID],
        keptFor lifetime: Duration? = .seconds(30), overriding overrides: Bool = false
    ) async throws -> NodeCommandRequest {
        guard command > 0 else { throw RainKitError.usage("A command must be a number from 1 to 65535.") }
        guard !nodes.isEmpty else { throw RainKitError.usage("A command needs at least one board.") }
        guard nodes.count <= RainMakerCloud.nodesPerCommand else {
            throw RainKitError.usage("A command can go to at most \(RainMakerCloud.nodesPerCommand) boards at once.")
        }
        let seconds = lifetime?.components.seconds
        if let seconds, !RainMakerCloud.commandLifetime.contains(seconds) {
            throw RainKitError.usage("The cloud keeps a command for 1 second to 30 days.")
        }
        let sent = try await asking { cloud throws(AccountError) in
            try await cloud.sendCommand(command, data, to: nodes, lifetime: seconds, overrides: overrides)
        }
        return NodeCommandRequest(id: sent.request, nodes: nodes, refused: sent.refused)
    }

    /// Returns what nodes have answered up to now.
    ///
    /// - Throws: `RainKitError`: `no_such_request` if the cloud does not know the request, or has forgotten it.
    public func answers(to request: RequestID) async throws -> [NodeCommandRecord] {
        do throws(AccountError) { return try await cloud().commandRecords(request) } catch {
            throw RainKitError(commandError: error, request)
        }
    }

    /// Returns commands that the user has sent, the newest first. The cloud forgets old ones.
    ///
    /// - Parameters:
    ///   - node: only commands to this node; nil for all nodes, which needs a state.
    ///   - status: only commands in this state.
    ///   - count: the maximum number of commands.
    /// - Throws: `RainKitError`: the cloud's refusals.
    public func commands(
        of node: NodeID? = nil, in status: NodeCommandRecord.Status? = nil, atMost count: Int
    ) async throws -> [NodeCommandRecord] {
        try await asking { cloud throws(AccountError) in
            try await cloud.commandRecords(of: node, in: status, number: nil, atMost: count)
        }
    }

    /// Cancels a command at the nodes that have not answered. A command that has reached its node may be executed anyway.
    ///
    /// - Parameter node: only at this node; nil for all nodes of the request.
    /// - Returns: at how many nodes the cloud cancelled it; nil if the cloud does not say.
    /// - Throws: `RainKitError`: `no_such_request` if the cloud does not know the request, or has forgotten it.
    @discardableResult
    public func cancelCommand(_ request: RequestID, at node: NodeID? = nil) async throws -> Int? {
        do throws(AccountError) { return try await cloud().cancelCommands(request, of: node, number: nil) } catch {
            throw RainKitError(commandError: error, request)
        }
    }

    /// Cancels all commands that a node has not answered, or those with one number.
    ///
    /// - Returns: how many commands the cloud cancelled; nil if it does not say.
    /// - Throws: `RainKitError`: the cloud's refusals.
    @discardableResult
    public func cancelCommands(of node: NodeID, number command: UInt16? = nil) async throws -> Int? {
        try await asking { cloud throws(AccountError) in
            try await cloud.cancelCommands(nil, of: node, number: command)
        }
    }

    /// Waits until each node has given its final answer, or the time is over.
    ///
    /// The command has been sent, so this function does not throw: what is known is returned, and ``NodeCommandAnswers/unknown`` says why more
    /// is not. It returns at once if the cloud did not send the command to any node.
    public func answers(to request: NodeCommandRequest, waiting limit: Duration) async -> NodeCommandAnswers {
        let time = Timekeeper(configuration.tools.timer)
        let wait: CommandWait
        do throws(AccountError) {
            wait = CommandWait(cloud: try cloud(), time: time, request: request, limit: limit)
        } catch {
            return NodeCommandAnswers(request: request, records: [], unknown: RainKitError(error))
        }
        return await wait.run()
    }
}

/// Asks the cloud for the answers to a command, until all are there.
private struct CommandWait: Sendable {
    let cloud: any NodeCloud
    let time: Timekeeper
    let request: NodeCommandRequest
    let limit: Duration

    func run() async -> NodeCommandAnswers {
        let end = time.elapsed() + limit
        // Leaves a moment for the last question, if little time is left.
        let moment = min(.milliseconds(250), limit / 4)
        let (cloud, id) = (cloud, request.id)
        var records: [NodeCommandRecord] = []
        var hasAnswer = false
        if !request.nodes.isEmpty, request.open.isEmpty { return known(records) }
        do throws(AccountError) {
            let ending = try await CloudQuestion(time: time).askAgain(
                until: end, PollSchedule(from: .milliseconds(100), to: .seconds(2)), atLeast: moment
            ) { () async throws(AccountError) in
                try await cloud.commandRecords(id)
            } take: { answer in
                (records, hasAnswer) = (answer, true)
                return request.isAnswered(by: answer) ? .done : .quiet
            }
            switch ending {
            case .done: return known(records)
            case .refused(let error): return known(records, error)
            case .late(let fault):
                return known(records, records.isEmpty ? fault ?? (hasAnswer ? nil : CloudQuestion.silence) : nil)
            }
        } catch {
            return known(records, error)
        }
    }

    private func known(_ records: [NodeCommandRecord], _ error: AccountError? = nil) -> NodeCommandAnswers {
        NodeCommandAnswers(
            request: request, records: records, unknown: error.map { RainKitError(commandError: $0, request.id) })
    }
}

extension RainKitError {
    fileprivate init(commandError error: AccountError, _ request: RequestID) {
        guard error.serverCode == RainMakerCloud.unknownRequest else {
            self.init(error)
            return
        }
        self.init(
            .request(.other, reason: "no_such_request"),
            message:
                "The cloud knows no command with the request id \(request.rawValue.onOneLine), or has forgotten it.",
            remedies: [.knownCommand])
    }
}
