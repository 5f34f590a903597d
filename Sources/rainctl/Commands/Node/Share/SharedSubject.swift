// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What the commands for sharing share: boards, or groups of them.
protocol SharedSubject: Sendable {
    static var kind: SharedKind { get }
    /// The command that these are under.
    static var command: String { get }
    static var noun: String { get }
    /// The ids of those that a person names.
    static func ids(_ names: String, _ scene: CloudScene) async throws -> [String]
}

enum SharedNodes: SharedSubject {
    static let kind = SharedKind.nodes
    static let command = "node share"
    static let noun = "board"

    static func ids(_ names: String, _ scene: CloudScene) async throws -> [String] {
        try await scene.choice.nodes(names).map(\.id.rawValue)
    }
}

enum SharedGroups: SharedSubject {
    static let kind = SharedKind.groups
    static let command = "group share"
    static let noun = "group"

    static func ids(_ names: String, _ scene: CloudScene) async throws -> [String] {
        var ids: [String] = []
        for name in names.split(separator: ",").map(String.init) {
            let id = try await GroupChoice(cloud: scene.cloud).group(name).id
            if !ids.contains(id) { ids.append(id) }
        }
        return ids
    }
}
