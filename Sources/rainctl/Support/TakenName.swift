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

    /// Warns about the name of a group.
    func warn(groupName name: String, own: String? = nil) async throws {
        func flat(_ groups: [NodeGroup]) -> [(id: String, name: String)] {
            groups.flatMap { [($0.id, $0.name)] + flat($0.subgroups ?? []) }
        }
        guard let groups = try await listed({ try await cloud.groups(withSubgroups: true) }) else { return }
        warn("group", name, among: flat(groups), own: own)
    }

    /// Warns about the name of an automation.
    func warn(automationName name: String, own: String? = nil) async throws {
        guard let all = try await listed({ try await client.automations() }) else { return }
        warn("automation", name, among: all.map { ($0.id, $0.name) }, own: own)
    }

    /// Returns the list; nil if the cloud does not give it, because the command itself reports that problem. An error that ends the session is
    /// thrown: the command would only report that nobody is signed in.
    private func listed<List>(_ list: () async throws -> List) async throws -> List? {
        do {
            return try await list()
        } catch {
            let account = error as? AccountError ?? (error as? RainKitError)?.account
            if account?.code == .expired { throw error }
            return nil
        }
    }
}
