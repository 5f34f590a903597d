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
        /// A state that is not documented.
        case other(String)

        fileprivate init(_ word: String) {
            switch word {
            case "requested": self = .requested
            case "in_progress": self = .inProgress
            case "success": self = .success
            case "failure": self = .failure
            case "timed_out": self = .timedOut
            default: self = .other(word)
            }
        }

        /// Whether the state is final.
        public var isFinal: Bool {
            switch self {
            case .requested, .inProgress: false
            case .success, .failure, .timedOut, .other: true
            }
        }
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
    /// - Returns: the request's id, and the nodes to which the cloud did not send it, with reasons.
    public func sendCommand(
        _ command: UInt16, _ data: CommandData, to nodes: [NodeID], lifetime: Int64? = 30
    ) async throws(AccountError) -> (request: RequestID, refused: [ParameterOutcome]) {
        var body: [JSONValue.Member] = [
            .init("node_ids", .array(nodes.map { .string($0.rawValue) })), .init("cmd", .integer(Int64(command))),
            .init("timeout", .integer(lifetime ?? -1)),
        ]
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
        let refused = (reply["responses"]?.array ?? []).filter { $0["status"]?.string == "failure" }.compactMap {
            entry in
            entry["node_id"]?.string.map { ParameterOutcome(NodeID($0), refused: entry) }
        }
        return (RequestID(id), refused)
    }

    /// Returns the state of a command at each node.
    ///
    /// - Throws: `rejected` with the server code ``unknownRequest`` for an id that the cloud does not know, `malformedAnswer` for a list
    ///   that does not end.
    public func commandRecords(_ request: RequestID) async throws(AccountError) -> [NodeCommandRecord] {
        try await commandRecords([("request_id", request.rawValue)])
    }

    /// Returns the commands that the user has sent to a node, the newest first.
    ///
    /// - Parameter count: the maximum number of commands.
    public func commandRecords(
        of node: NodeID, atMost count: Int
    ) async throws(AccountError) -> [NodeCommandRecord] {
        try await commandRecords([("node_id", node.rawValue)], atMost: count)
    }

    private func commandRecords(
        _ selection: [(name: String, value: String)], atMost count: Int = .max
    ) async throws(AccountError) -> [NodeCommandRecord] {
        var records: [NodeCommandRecord] = []
        var bound = ListBound(of: "command requests", bytes: ListBound.wholeBytes)
        var start: [(name: String, value: String)] = []
        while true {
            let query = selection + start
            let page: (reply: JSONValue, bytes: Int)
            do throws(AccountError) {
                page = try await measuredCall(RainMakerCall(.get, Self.commandPath, query: query))
            } catch {
                // The general meaning of this number is about mapping requests.
                guard error.serverCode == Self.unknownRequest else { throw error }
                throw AccountError(
                    .rejected, message: "the cloud does not know a command with this request id, or no longer",
                    serverCode: error.serverCode, status: error.status)
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
