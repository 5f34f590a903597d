// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What users have told nodes to do, and what the nodes have answered. It is not kept over a restart.
struct CommandTable: Codable, Sendable, Equatable {
    struct Record: Codable, Sendable, Equatable {
        enum Status: String, Codable, Sendable {
            case requested, success, failure
            case timedOut = "timed_out"
        }

        var requestID: String
        var owner: String
        var node: String
        var command: Int64
        var data: JSONValue
        var isBase64: Bool
        var status = Status.requested
        /// The node's own (`esp_rmaker_cmd_status_t`).
        var nodeStatus: UInt8?
        var answer: [UInt8] = []
        /// Milliseconds since 1970; nil for never.
        var requestedAt: Int64
        var answeredAt: Int64?
        var expiresAt: Int64?
    }

    /// The oldest are forgotten beyond this.
    static let maximum = 1000

    private(set) var records: [Record] = []

    mutating func add(_ record: Record) {
        records.append(record)
        if records.count > Self.maximum { records.removeFirst(records.count - Self.maximum) }
    }

    /// False where nobody waits for it.
    mutating func answer(_ message: CommandMessage, from node: String, at now: Int64) -> Bool {
        expire(at: now)
        let index = records.firstIndex {
            $0.requestID == message.requestID && $0.node == node && $0.status == .requested
        }
        guard let index else { return false }
        records[index].status = message.status == 0 ? .success : .failure
        records[index].nodeStatus = message.status
        records[index].answer = message.data
        records[index].answeredAt = now
        return true
    }

    mutating func expire(at now: Int64) {
        for index in records.indices
        where records[index].status == .requested && (records[index].expiresAt ?? .max) <= now {
            records[index].status = .timedOut
        }
    }

    /// What a node that comes back has not answered yet.
    func pending(for node: String) -> [Record] { records.filter { $0.node == node && $0.status == .requested } }
    func list(_ requestID: String, of owner: String) -> [Record] {
        records.filter { $0.requestID == requestID && $0.owner == owner }
    }
}
