// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

extension EntryCommand {
    /// A new entry. Throws `list_full` where the board says how many it keeps, and has as many.
    func add(
        _ name: String, _ values: [String], trigger: ScheduleTrigger?, _ scene: CloudScene
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
        let change = try checked(name, values, trigger, place)
        warnOfTimeZone(place.node, trigger, scene.context)
        return try await carryOut(.add, id, change, at: place.node, place.path, scene)
    }

    func edit(
        _ wanted: String, _ name: String?, _ values: [String], when: TriggerOptions?, _ scene: CloudScene
    ) async throws -> EntryResult {
        let place = try await place(scene)
        let entry = try entry(wanted, at: place.node)
        // One trigger would take the place of all, without a word.
        if when != nil, let times = entry.document["triggers"]?.array?.count, times > 1 {
            throw CommandFailure(
                .badData, reason: "not_allowed",
                message:
                    "This schedule acts at \(times) times, and only one could be given here: remove it, and add one for each time."
            )
        }
        let trigger = try when?.trigger(on: CalendarDay.today, changing: entry.trigger)
        let change = try checked(name, values, trigger, place)
        warnOfTimeZone(place.node, trigger, scene.context)
        return try await carryOut(.edit, entry.id, change, at: place.node, place.path, scene)
    }

    func change(
        _ operation: ServiceOperation, _ wanted: String, _ scene: CloudScene
    ) async throws -> EntryResult {
        let place = try await place(scene)
        let entry = try entry(wanted, at: place.node)
        return try await carryOut(operation, entry.id, at: place.node, place.path, scene)
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
        let services = NodeConfiguration(node.configuration)?.components.filter { $0.type == "esp.service.time" } ?? []
        guard let service = services.first,
            let zone = service.parameters.first(where: { $0.type == "esp.param.tz" }),
            node.parameters?[service.name]?[zone.name]?.string?.isEmpty ?? true
        else { return }
        context.output.warn(
            "\(node.shownName) has no time zone yet, and takes the time for UTC: rainctl node params set \(node.id.rawValue.onOneLine) "
                + "\(service.name).\(zone.name)=Europe/Berlin", reason: "no_time_zone")
    }
}
