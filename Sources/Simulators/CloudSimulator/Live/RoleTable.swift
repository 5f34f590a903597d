// SPDX-License-Identifier: Apache-2.0

/// The short-lived credentials that `assume_role` has given.
struct RoleTable: Sendable {
    struct Role: Sendable {
        let accessKey: String
        let secretKey: String
        let sessionToken: String
        let nodes: Set<String>
        /// Milliseconds since 1970.
        let expiresAt: Int64
    }

    static let region = "us-east-1"
    /// How long a role is good, in milliseconds: an hour.
    static let lifetime: Int64 = 3_600_000
    /// The oldest go beyond that.
    private static let maximum = 1000

    private var roles: [Role] = []

    mutating func add(_ role: Role) {
        roles.append(role)
        if roles.count > Self.maximum { roles.removeFirst() }
    }

    func role(of accessKey: String) -> Role? { roles.first { $0.accessKey == accessKey } }
}
