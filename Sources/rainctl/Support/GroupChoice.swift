// SPDX-License-Identifier: Apache-2.0
import RainKit

/// The group that somebody names: by its id, or its name, sub-groups too.
struct GroupChoice {
    let cloud: RainMakerCloud

    /// Throws `other` (`no_such_group`) where there is none, `usage` (`several_groups`) where the name is that of several.
    func group(_ name: String) async throws -> NodeGroup {
        guard !name.isBlank else { throw Self.unnamed }
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
        do throws(AccountError) {
            // A cloud may leave out of its list what is shared from within another user's group.
            return try await cloud.group(name)
        } catch {
            guard [.unknownNode, .rejected, .forbidden].contains(error.code) else { throw error }
        }
        throw CommandFailure(
            .other, reason: "no_such_group",
            message: "There is no group \(name.onOneLine): rainctl group list shows those that are.")
    }

    /// Those that a list names, `NAME,NAME,…`, each once; or the one whose name has a comma.
    func groups(_ names: String) async throws -> [NodeGroup] {
        do {
            var groups: [NodeGroup] = []
            for name in names.split(separator: ",").map(String.init) {
                let group = try await group(name)
                if !groups.contains(where: { $0.id == group.id }) { groups.append(group) }
            }
            guard !groups.isEmpty else { throw Self.unnamed }
            return groups
        } catch let failure as CommandFailure where failure.reason == "no_such_group" && names.contains(",") {
            guard let group = try? await group(names) else { throw failure }
            return [group]
        }
    }

    private static var unnamed: CommandFailure {
        CommandFailure(.usage, message: "Name a group: rainctl group list shows them.")
    }
}
