// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

/// The names of boards or groups for people, by their ids. An id without a name, and one whose name is not unique, stays as it is.
struct ShownNames: Sendable {
    private let names: [String: String]

    init(_ all: [(id: String, name: String?)] = []) {
        let counts = Dictionary(grouping: all.compactMap { $0.name?.lowercased() }) { $0 }.mapValues(\.count)
        var names: [String: String] = [:]
        for (id, name) in all {
            guard let name, !name.isBlank, counts[name.lowercased()] == 1 else { continue }
            names[id] = name.onOneLine
        }
        self.names = names
    }

    subscript(_ id: String) -> String { names[id] ?? id.onOneLine }
    func list(_ ids: [String]) -> String { ids.map { self[$0] }.joined(separator: ", ") }
}

extension CloudScene {
    /// The names of the account's boards, as the cloud listed them last. Nothing is sent.
    var boardNames: ShownNames { ShownNames(client.rememberedNodes().map { ($0.id.rawValue, $0.name) }) }

    /// The names of the account's groups. The cloud is asked only for text, and if it refuses, ids are shown.
    func groupNames() async -> ShownNames {
        guard !context.output.isJSON, let groups = try? await cloud.groups(withSubgroups: true) else {
            return ShownNames()
        }
        func flat(_ groups: [NodeGroup]) -> [(id: String, name: String?)] {
            groups.flatMap { [($0.id, $0.name)] + flat($0.subgroups ?? []) }
        }
        return ShownNames(flat(groups))
    }
}
