// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Who has boards or groups.
struct SharingListResult: CommandResult {
    let shared: [Entry]

    struct Entry: Encodable, Sendable {
        let id: String
        let primaryUsers: [String]
        let secondaryUsers: [String]

        private enum CodingKeys: String, CodingKey {
            case id
            case primaryUsers = "primary_users"
            case secondaryUsers = "secondary_users"
        }
    }

    init(_ all: [Sharing]) {
        shared = all.map { Entry(id: $0.id, primaryUsers: $0.primaryUsers, secondaryUsers: $0.secondaryUsers) }
    }

    var text: String {
        shared.map { entry in
            let others =
                entry.secondaryUsers.isEmpty ? "" : "  shared with \(entry.secondaryUsers.joined(separator: ", "))"
            return "\(entry.id)  \(entry.primaryUsers.joined(separator: ", "))\(others)".onOneLine
        }.joined(separator: "\n")
    }
}

/// Offers that wait for an answer, or were declined.
struct SharingRequestsResult: CommandResult {
    let requests: [Entry]
    private let areSent: Bool

    private enum CodingKeys: CodingKey { case requests }

    struct Entry: Encodable, Sendable {
        let requestID: String
        let status: String
        let ids: [String]
        let userName: String?
        let ownerName: String?
        let requestedAt: String?

        private enum CodingKeys: String, CodingKey {
            case requestID = "request_id"
            case status, ids
            case userName = "user_name"
            case ownerName = "owner_name"
            case requestedAt = "requested_at"
        }
    }

    init(_ all: [SharingRequest], areSent: Bool) {
        self.areSent = areSent
        requests = all.map {
            Entry(
                requestID: $0.id, status: $0.status, ids: $0.subjects, userName: $0.userName, ownerName: $0.ownerName,
                requestedAt: $0.requestedAt.map { Timestamp.text($0) })
        }
    }

    var text: String {
        if requests.isEmpty { return "There are no requests." }
        return requests.map { entry in
            let other = areSent ? "to \(entry.userName ?? "?")" : "from \(entry.ownerName ?? "?")"
            return "\(entry.requestID)  \(entry.status)  \(other)  \(entry.ids.joined(separator: ", "))".onOneLine
        }.joined(separator: "\n")
    }
}
