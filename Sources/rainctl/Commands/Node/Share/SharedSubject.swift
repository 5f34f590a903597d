// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What the commands for sharing share: boards, or groups of them.
protocol SharedSubject: Sendable {
    static var kind: SharedKind { get }
    /// The command that these are under.
    static var command: String { get }
    static var noun: String { get }
    /// The id of the one that a person names.
    static func id(_ name: String, _ scene: CloudScene) async throws -> String
    /// The ids of those that a person names: at least one.
    static func ids(_ names: String, _ scene: CloudScene) async throws -> [String]
    /// What a user has it by who shares that: itself, and the groups around it.
    static func holders(of id: String, _ cloud: RainMakerCloud) async throws(AccountError) -> [String]
}

enum SharedNodes: SharedSubject {
    static let kind = SharedKind.nodes
    static let command = "node share"
    static let noun = "board"

    static func id(_ name: String, _ scene: CloudScene) async throws -> String {
        try await scene.choice.node(name).id.rawValue
    }

    static func ids(_ names: String, _ scene: CloudScene) async throws -> [String] {
        try await scene.choice.nodes(names).map(\.id.rawValue)
    }

    static func holders(of id: String, _ cloud: RainMakerCloud) -> [String] { [id] }
}

enum SharedGroups: SharedSubject {
    static let kind = SharedKind.groups
    static let command = "group share"
    static let noun = "group"

    static func id(_ name: String, _ scene: CloudScene) async throws -> String {
        try await GroupChoice(cloud: scene.cloud).group(name).id
    }

    static func ids(_ names: String, _ scene: CloudScene) async throws -> [String] {
        try await GroupChoice(cloud: scene.cloud).groups(names).map(\.id)
    }

    static func holders(of id: String, _ cloud: RainMakerCloud) async throws(AccountError) -> [String] {
        func way(in groups: [NodeGroup]) -> [String]? {
            for group in groups {
                if group.id == id { return [id] }
                if let inner = way(in: group.subgroups ?? []) { return [group.id] + inner }
            }
            return nil
        }
        return way(in: try await cloud.groups(withSubgroups: true)) ?? [id]
    }
}

extension CommandFailure {
    /// Of a call that names another user: that there is none says nothing of the own sign-in.
    init(sharing error: AccountError) {
        self.init(error)
        if error.code == .unknownUser { status = .other }
    }
}
