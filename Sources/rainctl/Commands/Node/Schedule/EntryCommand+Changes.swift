// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

extension EntryCommand {
    /// A new entry. Throws `list_full` where the board says how many it keeps, and has as many.
    func add(
        _ name: String, _ values: [String], trigger: TriggerWords?, _ scene: CloudScene
    ) async throws -> EntryResult {
        let place = try await place(scene)
        let known = place.node.entries(of: Self.service) ?? []
        if let maximum = place.maximum, known.count >= maximum {
            throw CommandFailure(
                .badData, reason: "list_full",
                message: "\(place.node.shownName) keeps \(maximum) \(Self.noun)s, and has as many: remove one first.")
        }
        var id = ""
        // As the apps and the official client make them: four hex digits.
        repeat {
            id = RainKitTools().randomBytes(2).map { ($0 < 16 ? "0" : "") + String($0, radix: 16).uppercased() }
                .joined()
        } while known.contains { $0.id == id }
        let trigger = try await read(trigger, at: place.node, scene)
        let change = try checked(name, values, trigger, place)
        warnOfTimeZone(place.node, trigger, scene.context)
        return try await carryOut(.add, id, change, at: place.node, place.path, scene)
    }

    func edit(
        _ wanted: String, _ name: String?, _ values: [String], trigger: TriggerWords?, _ scene: CloudScene
    ) async throws -> EntryResult {
        let place = try await place(scene)
        let entry = try entry(wanted, at: place.node)
        let trigger = try await read(trigger, of: entry, at: place.node, scene)
        var change = try checked(name, values, trigger, place)
        change.replacedTrigger = entry.document["triggers"]?.array?.first
        warnOfTimeZone(place.node, trigger, scene.context)
        return try await carryOut(.edit, entry.id, change, at: place.node, place.path, scene)
    }

    func change(
        _ operation: ServiceOperation, _ wanted: String, _ scene: CloudScene
    ) async throws -> EntryResult {
        let place = try await place(scene)
        let entry = try entry(wanted, at: place.node)
        if operation == .enable { try await checkIsToCome(entry, at: place.node, scene) }
        return try await carryOut(operation, entry.id, at: place.node, place.path, scene)
    }

    /// Throws `usage` for a schedule that would not act any more: the board would switch it on all the same.
    private func checkIsToCome(_ entry: ServiceEntry, at node: Node, _ scene: CloudScene) async throws {
        let triggers = entry.triggers
        guard !triggers.isEmpty, triggers.allSatisfy({ $0.isOver(at: .latest) }) else { return }
        var isOver = triggers.allSatisfy { $0.isOver(at: .earliest) }
        if !isOver, let now = await now(of: node, scene) { isOver = triggers.allSatisfy { $0.isOver(at: now) } }
        guard isOver else { return }
        throw CommandFailure(
            .usage,
            message: """
                \(entry.name.onOneLine) (\(triggers.map(\.words).joined(separator: ", ").onOneLine)) would never act: that is over. Give it \
                another time with rainctl node schedule edit.
                """)
    }

    /// What the board's clock shows, where that is known.
    private func now(of node: Node, _ scene: CloudScene) async -> ClockReading? {
        await BoardClock(environment: scene.context.environmentOfPrograms)
            .reading(of: node, within: min(scene.time.left, .seconds(5)))
    }

    /// What the words mean for this board: of `entry` stays what they leave out.
    ///
    /// Throws `usage` for what would never act, and `several_triggers` where a change of one would drop the others.
    private func read(
        _ words: TriggerWords?, of entry: ServiceEntry? = nil, at node: Node, _ scene: CloudScene
    ) async throws -> ScheduleTrigger? {
        guard let words else { return nil }
        if let entry, entry.triggers.count > 1 {
            throw CommandFailure(
                .badData, reason: "several_triggers",
                message: """
                    \(entry.name.onOneLine) acts at several times (\(entry.triggers.map(\.words).joined(separator: ", ").onOneLine)), of \
                    which a change would drop all but one: remove it, and add a schedule for each.
                    """)
        }
        do {
            let trigger = try words.trigger(after: entry?.trigger, at: .earliest)
            // Only about a day is the board's zone needed.
            guard trigger.isOver(at: .latest) else { return trigger }
            guard let now = await now(of: node, scene) else { return trigger }
            return try words.trigger(after: entry?.trigger, at: now)
        } catch let error as ValidationError {
            throw CommandFailure(.usage, message: error.message)
        }
    }

    private func checked(
        _ name: String?, _ values: [String], _ trigger: ScheduleTrigger?,
        _ place: (node: Node, configuration: NodeConfiguration, path: ParameterPath, maximum: Int?)
    ) throws(CommandFailure) -> ServiceEntryChange {
        do throws(ParameterError) {
            let changes = try GivenValue.changes(values, by: place.configuration)
            // `nil` alone would be JSON's null.
            let change = ServiceEntryChange(
                name: name, trigger: trigger, action: changes.isEmpty ? Optional.none : changes.json)
            try change.check(by: place.configuration, Self.service)
            return change
        } catch {
            throw CommandFailure(error, at: place.node)
        }
    }

    /// A board without a time zone acts by UTC, which nobody expects of 07:30.
    private func warnOfTimeZone(_ node: Node, _ trigger: ScheduleTrigger?, _ context: Context) {
        switch trigger {
        case .weekly, .date: break
        case .after, .other, nil: return
        }
        guard let zone = node.timeZone, zone.name.isEmpty else { return }
        context.output.warn(
            "\(node.shownName) has no time zone yet, and takes the time for UTC: rainctl node params set \(node.id.rawValue.asShellWord) "
                + "\("\(zone.path)=Europe/Berlin".asShellWord)", reason: "no_time_zone")
    }
}
