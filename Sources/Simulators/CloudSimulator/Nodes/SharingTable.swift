// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What users offer each other: nodes, or groups of them.
struct SharingTable: Codable, Sendable, Equatable {
    enum Kind: String, Codable, Sendable { case nodes, groups }

    struct Request: Codable, Sendable, Equatable {
        enum Status: String, Codable, Sendable { case pending, declined }

        var id: String
        var kind: Kind
        /// Ids of nodes or groups.
        var subjects: [String]
        var owner: String
        /// The user who is asked.
        var guest: String
        /// The guest is to be an owner as well, instead of a second user.
        var isPrimary: Bool
        /// What the owner is afterwards where all is handed over: a second user, or nobody. Nil where nothing is handed over.
        var ownerStays: Bool?
        var metadata: JSONValue?
        var status = Status.pending
        /// Milliseconds since 1970.
        var requestedAt: Int64
    }

    /// The oldest are forgotten beyond this.
    static let maximum = 1000
    /// How long a request can be answered, in milliseconds: the seven days that clients tell people.
    static let patience: Int64 = 7 * 86_400_000

    private(set) var requests: [Request] = []

    mutating func add(_ request: Request) {
        requests.append(request)
        if requests.count > Self.maximum { requests.removeFirst(requests.count - Self.maximum) }
    }

    mutating func remove(_ id: String) { requests.removeAll { $0.id == id } }

    mutating func decline(_ id: String) {
        guard let index = requests.firstIndex(where: { $0.id == id }) else { return }
        requests[index].status = .declined
    }

    /// Those that wait for an answer or were declined, of one side.
    func list(_ kind: Kind, of user: String, asOwner: Bool, at now: Int64) -> [Request] {
        requests.filter {
            $0.kind == kind && (asOwner ? $0.owner : $0.guest) == user && $0.requestedAt + Self.patience > now
        }
    }

    /// Forgets what a user has offered and was offered.
    mutating func removeAll(of user: String) { requests.removeAll { $0.owner == user || $0.guest == user } }
}
