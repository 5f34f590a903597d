// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainKit
import RainMaker

extension MCPTool {
    /// Tools for schedules and scenes, which boards keep themselves.
    static let entryTools: [MCPTool] = [
        MCPTool(
            "get_schedules", "Schedules of a board",
            """
            Returns a board's schedules. A trigger has either m with d or dd, or only rsec. m is the minutes after midnight on the board's \
            clock. d is the sum of the days: Monday is 1, Tuesday 2, Wednesday 4, Thursday 8, Friday 16, Saturday 32, Sunday 64; 0 means \
            once. dd is a day of the month. With dd, mm is the sum of the months: January is 1, February 2, March 4, and so on; all months \
            are 4095. rsec is the seconds after the trigger was set.
            """,
            [.node], schema: "entry-list"
        ) { call in
            try await call.command("node.schedule.list", ["node": call["node_id"]])
        },
        MCPTool(
            "set_schedule", "Change schedules",
            """
            Adds, edits, removes, enables or disables a schedule of one or more boards. The trigger {"m":480,"d":127} is 8:00 every day. \
            {"m":1110,"d":31} is 18:30 from Monday to Friday. {"m":1140,"d":0} is 19:00 once. {"m":720,"dd":15,"mm":4095} is 12:00 on the \
            15th of each month. {"rsec":3600} is in one hour. See get_schedules for the numbers.
            """,
            [
                .nodes,
                Argument(
                    name: "operation", isRequired: true, values: ["add", "edit", "remove", "enable", "disable"],
                    help: "What to do: add, edit, remove, enable or disable."),
                Argument(
                    name: "schedule_id",
                    help:
                        "The schedule's id. Required, except for add (default: four random digits)."
                ),
                Argument(name: "name", help: "The schedule's name, 1 to 32 bytes (required for add)."),
                Argument(
                    name: "trigger", kind: .object, help: "The time at which the schedule acts (required for add)."),
                Argument(
                    name: "action", kind: .object,
                    help: "The values to set, such as {\"Light\":{\"Power\":true}} (required for add)."),
                Argument(name: "info", help: "A remark that the board stores with the schedule."),
                Argument(name: "flags", help: "A number that the board stores for applications, such as 1."),
            ], access: .changes, isDestructive: true, schema: "entry-changes"
        ) { call in
            try await call.changeEntries(of: .schedules, id: "schedule_id")
        },
        MCPTool(
            "get_scenes", "Scenes of a board", "Returns a board's scenes: sets of values with a name.", [.node],
            schema: "entry-list"
        ) { call in
            try await call.command("node.scene.list", ["node": call["node_id"]])
        },
        MCPTool(
            "set_scene", "Change or activate scenes",
            "Adds, edits, removes or activates a scene of one or more boards. Activating sets the scene's values.",
            [
                .nodes,
                Argument(
                    name: "operation", isRequired: true, values: ["add", "edit", "remove", "activate"],
                    help: "What to do: add, edit, remove or activate."),
                Argument(
                    name: "scene_id",
                    help: "The scene's id. Required, except for add (default: four random digits)."
                ),
                Argument(name: "name", help: "The scene's name, 1 to 32 bytes (required for add)."),
                Argument(
                    name: "action", kind: .object,
                    help: "The scene's values, such as {\"Light\":{\"Power\":true}} (required for add)."),
                Argument(name: "info", help: "A remark that the board stores with the scene."),
            ], access: .changes, isDestructive: true, schema: "entry-changes"
        ) { call in
            try await call.changeEntries(of: .scenes, id: "scene_id")
        },
    ]
}

extension MCPCall {
    /// Changes a schedule or a scene of each board that the call names.
    /// - Parameter id: the name of the argument with the entry's id.
    fileprivate func changeEntries(of service: ListService, id: String) async throws -> JSONValue {
        guard let operation = text("operation").flatMap({ ServiceOperation(rawValue: $0) }) else {
            throw failure(" needs an operation.")
        }
        let isAdd = operation == .add
        for needed in isAdd ? (service == .schedules ? ["name", "trigger", "action"] : ["name", "action"]) : [id]
        where self[needed] == nil {
            throw failure(": the operation \(operation.rawValue) needs \(needed).")
        }
        let isEdit = isAdd || operation == .edit
        let parts = ["name", "trigger", "action", "info", "flags"].filter { self[$0] != nil }
        guard isEdit == !parts.isEmpty else {
            throw failure(
                isEdit
                    ? ": the operation edit needs a new name, trigger, action, info or flags."
                    : ": the operation \(operation.rawValue) does not take \(parts.joined(separator: ", ")).")
        }
        let change = try entryChange()
        let (nodes, wanted) = (text("node_id") ?? "", text(id))
        return try await ask { scene in
            let found = try await scene.time.run { try await scene.client.nodes(listed: nodes) }
            var entry = wanted
            if !isAdd, let entry { try EntryGroup.check(id: entry, of: service, at: found) }
            if isAdd, entry == nil { entry = scene.client.newEntryID(in: service, of: found) }
            var outcomes: [EntryChangesResult.Entry] = []
            var failures: [any Error] = []
            for node in found {
                do {
                    let outcome = try await scene.time.run { [entry] in
                        try await scene.client.changeEntry(operation, entry ?? "", change, in: service, at: node)
                    }
                    scene.warnOfMissingTimeZone(outcome, at: node)
                    outcomes.append(.init(outcome, isOffline: node.connectivity?.isConnected == false))
                } catch {
                    failures.append(error)
                    outcomes.append(.init(failed: operation, entry, at: node, error))
                }
            }
            let result = EntryChangesResult(nodes: outcomes)
            guard let first = failures.first else { return result }
            guard found.count > 1 else { throw first }
            var failure = CommandFailure(
                .batchPartial, reason: failures.count == found.count ? "all_failed" : "some_failed",
                message:
                    "\(failures.count) of \(found.count) boards failed. The first error: \(CommandFailure(first).message)"
            )
            failure.result = result
            throw failure
        }
    }

    private func entryChange() throws -> EntryChange {
        var change = EntryChange(name: text("name"), info: text("info"))
        if let trigger = self["trigger"] {
            change.trigger = ScheduleTrigger(trigger)
        }
        if let action = self["action"] {
            guard let values = [ParameterChange](action), !values.isEmpty else {
                throw failure(": action must be an object such as {\"Light\":{\"Power\":true}}.")
            }
            change.values = values
        }
        if let flags = text("flags") {
            guard let number = UInt32(flags) else { throw failure(": flags must be a number from 0 to 4294967295.") }
            change.flags = number
        }
        return change
    }
}

extension CloudScene {
    fileprivate func warnOfMissingTimeZone(_ outcome: EntryOutcome, at node: Node) {
        guard let zone = outcome.missingTimeZone else { return }
        context.output.warn(
            "\(node.shownName) has no time zone yet, so it reads the time as UTC. Set its parameter \("\(zone)".onOneLine) to a time zone such as Europe/Berlin.",
            reason: "no_time_zone")
    }
}

/// The outcome of one change of a schedule or a scene on several boards.
struct EntryChangesResult: CommandResult {
    let nodes: [Entry]

    struct Entry: Encodable, Sendable {
        let nodeID: String
        let id: String?
        let operation: String
        /// `sent` by the cloud, or `failed`.
        let state: String
        let message: String?

        init(_ outcome: EntryOutcome, isOffline: Bool) {
            nodeID = outcome.node.rawValue
            id = outcome.id
            operation = outcome.operation.rawValue
            state = "sent"
            message = isOffline ? "is offline" : nil
        }

        init(failed operation: ServiceOperation, _ id: String?, at node: Node, _ error: any Error) {
            nodeID = node.id.rawValue
            self.id = id
            self.operation = operation.rawValue
            state = "failed"
            message = CommandFailure(error).message
        }
    }

    var text: String {
        nodes.map { "\($0.nodeID)  \($0.operation)  \($0.state)  \($0.message ?? "")".onOneLine }.joined(
            separator: "\n")
    }
}
