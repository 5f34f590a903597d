// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// What became of a command at one node.
public struct NodeCommandRecord: Sendable, Equatable {
    /// How far it is.
    public enum Status: Sendable, Equatable {
        /// The node has not answered.
        case requested
        /// The node has begun.
        case inProgress
        /// Done.
        case success
        /// The node could not do it, or has no such command.
        case failure
        /// The node has not answered in time.
        case timedOut
        /// A word that is none of those documented.
        case other(String)

        init(_ word: String) {
            switch word {
            case "requested": self = .requested
            case "in_progress": self = .inProgress
            case "success": self = .success
            case "failure": self = .failure
            case "timed_out": self = .timedOut
            default: self = .other(word)
            }
        }

        /// Whether nothing more comes.
        public var isFinal: Bool {
            switch self {
            case .requested, .inProgress: false
            case .success, .failure, .timedOut, .other: true
            }
        }
    }

    /// Which node.
    public var node: NodeID
    /// How far it is.
    public var status: Status
    /// The node's own word for its answer, such as `command not found`.
    public var summary: String?
    /// The node's answer: JSON, a text, or base64 of bytes that are neither.
    public var response: JSONValue?
    /// All that the cloud says of it.
    public var document: JSONValue

    /// An entry of `requests`; nil without a node.
    init?(_ json: JSONValue) {
        guard let node = json["node_id"]?.string, !node.isEmpty else { return nil }
        self.node = NodeID(node)
        status = Status(json["status"]?.string ?? "requested")
        summary = json["status_description"]?.string
        response = json["response_data"]?.unlessNull
        document = json
    }
}

extension RainMakerCloud {
    /// The most nodes that one command goes to.
    public static let nodesPerCommand = 25

    /// How long the cloud keeps a command for nodes that are away, in seconds: 1 to 30 days; without a limit where it is nil.
    public static let commandLifetime: ClosedRange<Int64> = 1...2_592_000

    /// What a node gets with a command.
    public enum CommandData: Sendable, Equatable {
        /// As JSON text.
        case json(JSONValue)
        /// To the byte.
        case bytes([UInt8])
    }

    /// Sends a command to up to 25 nodes, whose answers ``commandRecords(_:)`` gives.
    ///
    /// - Parameters:
    ///   - command: the firmware's number for it; 0 is none.
    ///   - lifetime: how long nodes that are away may take, see ``commandLifetime``.
    /// - Returns: the request's id, and why the cloud did not send it to some of the nodes.
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
                .init("data", .string(String(decoding: Base64.encoded(bytes), as: UTF8.self))),
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

    /// How far a command is, node by node.
    ///
    /// - Throws: `rejected` with the server code ``unknownRequest`` for an id that the cloud does not know, `malformedAnswer` for a list that
    ///   does not end.
    public func commandRecords(_ request: RequestID) async throws(AccountError) -> [NodeCommandRecord] {
        var records: [NodeCommandRecord] = []
        var bound = ListBound(of: "command requests", bytes: ListBound.wholeBytes)
        var start: [(name: String, value: String)] = []
        while true {
            let query = [(name: "request_id", value: request.rawValue)] + start
            let page: (reply: JSONValue, bytes: Int)
            do throws(AccountError) {
                page = try await measuredCall(RainMakerCall(.get, Self.commandPath, query: query))
            } catch {
                // Of a mapping the same number speaks, too.
                guard error.serverCode == Self.unknownRequest else { throw error }
                throw AccountError(
                    .rejected, message: "the cloud knows no command of that request id, or no longer",
                    serverCode: error.serverCode, status: error.status)
            }
            guard let list = page.reply["requests"]?.array else { throw incomplete("requests", in: page.reply) }
            try bound.count(list.count, bytes: page.bytes)
            records += list.compactMap { NodeCommandRecord($0) }
            guard let next = page.reply["next_id"]?.string, !next.isEmpty else { return records }
            try bound.count(next: next)
            start = [("start_id", next)]
        }
    }

    /// The cloud's number (`error_code`) for a request that it does not know.
    public static let unknownRequest = 103_018

    private static let commandPath = "user/nodes/cmd"
}
