// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

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
