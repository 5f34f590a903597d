// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Names that two schedules, scenes, groups or automations have. Commands that name one of them then need its id.
enum TakenName {
    /// Returns the warning if another one already has the name; capital and small letters do not matter.
    ///
    /// - Parameters:
    ///   - noun: `schedule`, `scene`, `group` or `automation`.
    ///   - all: the ids and names of those that exist.
    ///   - own: the id or name of the one that gets the name; nil for a new one.
    static func warning(_ noun: String, _ name: String, among all: [(id: String, name: String)], own: String?)
        -> String?
    {
        let own = own.flatMap { own in
            all.first { $0.id == own } ?? all.first { $0.name.lowercased() == own.lowercased() }
        }?.id
        guard let other = all.first(where: { $0.id != own && $0.name.lowercased() == name.lowercased() }) else {
            return nil
        }
        let shown = other.name.onOneLine
        return
            "There is already a \(noun) called \(shown) (\(other.id.onOneLine)): only the ids tell the two \(noun)s apart."
            .replacing("a automation", with: "an automation")
    }
}

extension CloudScene {
    func warn(_ noun: String, _ name: String, among all: [(id: String, name: String)], own: String? = nil) {
        guard let warning = TakenName.warning(noun, name, among: all, own: own) else { return }
        context.output.warn(warning, reason: "name_taken")
    }

    /// Warns about the name of a group. If the cloud does not list the groups, nothing is said: the command itself reports the problem.
    func warn(groupName name: String, own: String? = nil) async {
        func flat(_ groups: [NodeGroup]) -> [(id: String, name: String)] {
            groups.flatMap { [($0.id, $0.name)] + flat($0.subgroups ?? []) }
        }
        guard let groups = try? await cloud.groups(withSubgroups: true) else { return }
        warn("group", name, among: flat(groups), own: own)
    }

    /// Warns about the name of an automation, as for groups.
    func warn(automationName name: String, own: String? = nil) async {
        guard let all = try? await client.automations() else { return }
        warn("automation", name, among: all.map { ($0.id, $0.name) }, own: own)
    }
}
