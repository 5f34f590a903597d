// SPDX-License-Identifier: Apache-2.0
import RainCore
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
