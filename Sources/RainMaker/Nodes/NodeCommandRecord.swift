// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// The result of a command at one node.
public struct NodeCommandRecord: Sendable, Equatable {
    /// The state of a command.
    public enum Status: Sendable, Equatable {
        /// The node has not answered.
        case requested
        /// The node has started.
        case inProgress
        /// The node has succeeded.
        case success
        /// The node has failed, or does not know the command.
        case failure
        /// The node did not answer in time.
        case timedOut
        /// Another command with the same number replaced it before the node answered (`override`).
        case overridden
        /// The user cancelled it before the node answered.
        case cancelled
        /// A state that is not documented.
        case other(String)

        /// The documented states.
        public static let known: [Status] = [
            .requested, .inProgress, .success, .failure, .timedOut, .overridden, .cancelled,
        ]

        /// - Parameter word: the cloud's word, such as `timed_out`.
        public init(_ word: String) { self = Self.known.first { $0.word == word } ?? .other(word) }

        /// The cloud's word for the state, such as `timed_out`.
        public var word: String {
            switch self {
            case .requested: "requested"
            case .inProgress: "in_progress"
            case .success: "success"
            case .failure: "failure"
            case .timedOut: "timed_out"
            case .overridden: "overridden"
            case .cancelled: "cancelled"
            case .other(let word): word
            }
        }

        /// Whether the state is final.
        public var isFinal: Bool { self != .requested && self != .inProgress }
    }

    /// The node.
    public var node: NodeID
    /// The id of the request, which is the same for all nodes that got the command together.
    public var request: RequestID?
    /// The firmware's number for the command.
    public var command: Int?
    /// When the command was sent.
    public var sent: UnixTime?
    /// The state of the command.
    public var status: Status
    /// The node's summary of its answer, such as `command not found`.
    public var summary: String?
    /// The node's answer: JSON, a text, or base64 of other bytes.
    public var response: JSONValue?
    /// The whole entry from the cloud.
    public var document: JSONValue

    /// Reads an entry of `requests`. Returns nil without a node.
    init?(_ json: JSONValue) {
        guard let node = json["node_id"]?.string, !node.isEmpty else { return nil }
        self.node = NodeID(node)
        request = json["request_id"]?.string.map { RequestID($0) }
        command = json["cmd"].flatMap(LenientInteger.init).map { Int($0.value) }
        sent = json["request_timestamp"].flatMap(LenientInteger.init).map { UnixTime(seconds: Double($0.value)) }
        status = Status(json["status"]?.string ?? "requested")
        summary = json["status_description"]?.string
        response = json["response_data"]?.unlessNull
        document = json
    }
}

extension RainMakerCloud {
    /// The maximum number of nodes for one command.
    public static let nodesPerCommand = 25

    /// How long the cloud keeps a command for nodes that are offline, in seconds: from 1 second to 30 days. There is no limit if it is nil.
    public static let commandLifetime: ClosedRange<Int64> = 1...2_592_000

    /// The data that a node gets with a command.
    public enum CommandData: Sendable, Equatable {
        /// A value that is sent as JSON text.
        case json(JSONValue)
        /// Bytes that are sent unchanged.
        case bytes([UInt8])
    }

    /// Sends a command to up to 25 nodes. ``commandRecords(_:)`` returns their answers.
    ///
    /// - Parameters:
    ///   - command: the firmware's number for the command. 0 is not a command.
    ///   - lifetime: how long the cloud keeps the command for nodes that are offline, see ``commandLifetime``.
    ///   - overrides: whether it replaces an unanswered command with the same number at the same node.
    /// - Returns: the request's id, and the nodes to which the cloud did not send it, with reasons.
    public func sendCommand(
        _ command: UInt16, _ data: CommandData, to nodes: [NodeID], lifetime: Int64? = 30, overrides: Bool = false
    ) async throws(AccountError) -> (request: RequestID, refused: [ParameterOutcome]) {
        var body: [JSONValue.Member] = [
            .init("node_ids", .array(nodes.map { .string($0.rawValue) })), .init("cmd", .integer(Int64(command))),
            .init("timeout", .integer(lifetime ?? -1)),
        ]
        if overrides { body.append(.init("override", true)) }
        switch data {
        case .json(let value): body.append(.init("data", value))
        case .bytes(let bytes):
            body += [
                .init("is_base64", true),
                .init("data", .string(Base64.text(bytes))),
            ]
        }
        let reply = try await call(RainMakerCall(.post, Self.commandPath, body: .object(body)))
        guard let id = reply["request_id"]?.string, !id.isEmpty else { throw incomplete("request_id", in: reply) }
        return (RequestID(id), (reply["responses"]?.array ?? []).flatMap(Self.refusals))
    }

    /// Reads an entry of `responses`: `{"node_id",…}`, or `{"node_ids":[…],"response":{…}}` of several nodes
    /// (espressif/esp-rainmaker-app-sdk-ts 3.3.0).
    private static func refusals(_ entry: JSONValue) -> [ParameterOutcome] {
        let answer = entry["response"] ?? entry
        guard answer["status"]?.string == "failure" else { return [] }
        let nodes = entry["node_ids"]?.array ?? [entry["node_id"] ?? .null]
        return nodes.compactMap { $0.string.map { ParameterOutcome(NodeID($0), refused: answer) } }
    }

    /// Cancels commands that nodes have not answered. A command that has reached its node may be executed anyway.
    ///
    /// - Parameters:
    ///   - request: the request; nil for all requests to the node.
    ///   - node: the node; nil for all nodes of the request.
    ///   - command: only commands with this number; needs a node.
    /// - Returns: how many commands the cloud cancelled; nil if it does not say.
    /// - Throws: `invalidInput` without a request and without a node, before anything is sent; `rejected` with the server code
    ///   ``unknownRequest``.
    @discardableResult
    public func cancelCommands(
        _ request: RequestID? = nil, of node: NodeID? = nil, number command: UInt16? = nil
    ) async throws(AccountError) -> Int? {
        guard node != nil || (request != nil && command == nil) else {
            throw AccountError(.invalidInput, message: "to cancel a command, give its request id or its node")
        }
        var query: [(name: String, value: String)] = []
        if let request { query.append(("request_id", request.rawValue)) }
        if let node { query.append(("node_id", node.rawValue)) }
        if let command { query.append(("cmd_id", "\(command)")) }
        let reply: JSONValue
        do throws(AccountError) {
            reply = try await call(RainMakerCall(.delete, Self.commandPath, query: query))
        } catch {
            throw Self.aboutCommands(error)
        }
        // The description of the interface has an integer, espressif/esp-rainmaker-app-sdk-ts 3.3.0 a text.
        return reply["total_cancelled"].flatMap(LenientInteger.init).flatMap { Int(exactly: $0.value) }
    }

    /// Replaces the general meaning of ``unknownRequest``, which is about mapping requests.
    private static func aboutCommands(_ error: AccountError) -> AccountError {
        guard error.serverCode == unknownRequest else { return error }
        return AccountError(
            .rejected, message: "the cloud does not know a command with this request id, or has forgotten it",
            serverCode: error.serverCode, status: error.status)
    }

    /// Returns the state of a command at each node.
    ///
    /// - Throws: `rejected` with the server code ``unknownRequest`` for an id that the cloud does not know, `malformedAnswer` for a list
    ///   that does not end.
    public func commandRecords(_ request: RequestID) async throws(AccountError) -> [NodeCommandRecord] {
        try await commandRecords([("request_id", request.rawValue)])
    }

    /// Returns commands that the user has sent, the newest first.
    ///
    /// - Parameters:
    ///   - node: only commands to this node; nil for all nodes.
    ///   - status: only commands in this state.
    ///   - command: only commands with this number; needs a node.
    ///   - count: the maximum number of commands.
    /// - Throws: `invalidInput` without a node and without a state, before anything is sent: the cloud lists no more at once.
    public func commandRecords(
        of node: NodeID? = nil, in status: NodeCommandRecord.Status? = nil, number command: UInt16? = nil,
        atMost count: Int
    ) async throws(AccountError) -> [NodeCommandRecord] {
        guard node != nil || (status != nil && command == nil) else {
            throw AccountError(.invalidInput, message: "a list of commands needs a node or a state")
        }
        var query: [(name: String, value: String)] = []
        if let node { query.append(("node_id", node.rawValue)) }
        if let status { query.append(("status", status.word)) }
        if let command { query.append(("cmd_id", "\(command)")) }
        return try await commandRecords(query, atMost: count)
    }

    private func commandRecords(
        _ selection: [(name: String, value: String)], atMost count: Int = .max
    ) async throws(AccountError) -> [NodeCommandRecord] {
        var records: [NodeCommandRecord] = []
        var bound = ListBound(of: "command requests", bytes: ListBound.wholeBytes)
        var start: [(name: String, value: String)] = []
        while true {
            let query = selection + start
            let page: (reply: JSONValue, bytes: Int, date: UnixTime?)
            do throws(AccountError) {
                page = try await measuredCall(RainMakerCall(.get, Self.commandPath, query: query))
            } catch {
                throw Self.aboutCommands(error)
            }
            guard let list = page.reply["requests"]?.array else { throw incomplete("requests", in: page.reply) }
            try bound.count(list.count, bytes: page.bytes)
            records += list.compactMap { NodeCommandRecord($0) }
            if records.count >= count { return Array(records.prefix(count)) }
            guard let next = page.reply["next_id"]?.string, !next.isEmpty else { return records }
            try bound.count(next: next)
            start = [("start_id", next)]
        }
    }

    /// The cloud's number (`error_code`) for a request that it does not know.
    public static let unknownRequest = 103_018

    private static let commandPath = "user/nodes/cmd"
}
