// SPDX-License-Identifier: Apache-2.0
import RainKit

/// The group that somebody names: by its id, or its name, sub-groups too.
struct GroupChoice {
    let cloud: RainMakerCloud

    /// Throws `other` (`no_such_group`) where there is none, `usage` (`several_groups`) where the name is that of several.
    func group(_ name: String) async throws -> NodeGroup {
        var found: [NodeGroup] = []
        func look(_ groups: [NodeGroup]) {
            for group in groups {
                if group.id == name || group.name.lowercased() == name.lowercased() { found.append(group) }
                look(group.subgroups ?? [])
            }
        }
        look(try await cloud.groups(withSubgroups: true))
        if let exact = found.first(where: { $0.id == name }) { return exact }
        if found.count == 1 { return found[0] }
        guard found.isEmpty else {
            throw CommandFailure(
                .usage, reason: "several_groups",
                message: "Several groups are called \(name.onOneLine): use an id, "
                    + found.prefix(20).map(\.id.onOneLine).joined(separator: " or ") + ".")
        }
        throw CommandFailure(
            .other, reason: "no_such_group",
            message: "There is no group \(name.onOneLine): rainctl group list shows those that are.")
    }
}
