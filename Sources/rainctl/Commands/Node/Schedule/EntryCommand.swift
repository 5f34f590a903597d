// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

/// A command on one of the lists that boards keep themselves: schedules and scenes.
protocol EntryCommand: CloudCommand {
    static var service: ListService { get }

    var node: String { get }
    var wait: Bool { get }
}

extension EntryCommand {
    static var noun: String { service == .schedules ? "schedule" : "scene" }

    /// The board, and where it keeps the list. Throws `no_service` where its firmware has none: nothing is sent then.
    func place(
        _ scene: CloudScene
    ) async throws -> (node: Node, configuration: NodeConfiguration, path: ParameterPath, maximum: Int?) {
        let name = node
        let found = try await scene.time.run { try await scene.choice.node(name) }
        let configuration = try found.described()
        guard let list = configuration.list(of: Self.service) else {
            throw CommandFailure(
                .badData, reason: "no_service",
                message:
                    "\(found.shownName) has no \(Self.noun)s: its firmware does not have the service \(Self.service.type)."
            )
        }
        return (found, configuration, list.path, list.maximum)
    }

    /// The entry of that id or name. Throws `no_such_entry`, with those that there are.
    func entry(_ name: String, at node: Node) throws(CommandFailure) -> ServiceEntry {
        let all = node.entries(of: Self.service) ?? []
        let found =
            all.filter { $0.id == name }.first.map { [$0] } ?? all.filter { $0.name.lowercased() == name.lowercased() }
        if found.count == 1 { return found[0] }
        let list = (found.isEmpty ? all : found).prefix(20).map { "\($0.id) (\($0.name))".onOneLine }
            .joined(separator: ", ")
        throw CommandFailure(
            found.isEmpty ? .badData : .usage, reason: found.isEmpty ? "no_such_entry" : "several_entries",
            message: found.isEmpty
                ? "\(node.shownName) has no \(Self.noun) \(name.onOneLine); it has \(list.isEmpty ? "none" : list)."
                : "Several \(Self.noun)s are called \(name.onOneLine): use an id, \(list).")
    }

    /// Sends the change, and waits for the board's report where that is wanted.
    func carryOut(
        _ operation: ServiceOperation, _ id: String, _ change: ServiceEntryChange = ServiceEntryChange(),
        at node: Node, _ path: ParameterPath, _ scene: CloudScene
    ) async throws -> EntryResult {
        let setter = ParameterSetter(cloud: scene.cloud, wait: wait ? scene.time.leftForWaiting : nil)
        let wanted = change.change(operation, id, at: path)
        let service = Self.service
        let outcomes = try await scene.time.run {
            try await setter.set([(node, [wanted])]) { known in
                let entry = known.entries(of: service)?.first { $0.id == id }
                return entry.isAsWanted(operation, change)
            }
        }
        if let untold = outcomes.first?.untold {
            var failure = CommandFailure(untold)
            failure.message +=
                " The cloud has sent the \(Self.noun) to \(node.shownName), and did not say what became of it: "
                + "rainctl node \(Self.noun) list \(node.id.rawValue.asShellWord) shows that."
            failure.result = EntryResult(
                node: node.id, noun: Self.noun, id: id, operation: operation, isReported: false)
            throw failure
        }
        let isReported = outcomes.first?.isReported
        guard isReported != false else {
            throw CommandFailure(
                .deadline,
                message:
                    "The cloud has sent it, and \(node.shownName) has not reported the \(Self.noun) in time (--timeout): is the board online, and its list full?"
            )
        }
        return EntryResult(
            node: node.id, noun: Self.noun, id: id, operation: operation, isReported: isReported ?? false,
            changesTime: change.trigger != nil)
    }
}

extension ServiceEntry? {
    /// Whether it is what the change was to make of it.
    fileprivate func isAsWanted(_ operation: ServiceOperation, _ change: ServiceEntryChange) -> Bool {
        switch operation {
        case .remove: return self == nil
        case .enable: return self?.isEnabled == true
        case .disable: return self?.isEnabled == false
        // What an activated scene sets is seen at the values.
        case .activate: return self != nil
        case .add, .edit:
            guard let entry = self else { return false }
            return change.name.map { $0 == entry.name } ?? true
                && change.trigger.map { $0 == entry.trigger } ?? true
                && change.action.map { entry.action.isReport(of: $0) } ?? true
        }
    }
}

extension Node {
    /// What the user calls it, or its id.
    var shownName: String { (displayName ?? id.rawValue).onOneLine }
}
