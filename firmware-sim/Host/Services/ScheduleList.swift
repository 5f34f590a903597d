// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The schedules of a node (`esp_rmaker_schedule.c`). Schedules beyond the limits are dropped without an error, as in firmware.
struct ScheduleList {
    /// `CONFIG_ESP_RMAKER_SCHEDULING_MAX_SCHEDULES`.
    static let maximum = 10
    fileprivate static let maximumID = 8
    fileprivate static let maximumName = 32

    private struct Schedule {
        var id: String
        var name: String
        var isEnabled = true
        var trigger: JSONValue
        var action: JSONValue
        var others: [JSONValue.Member] = []
        /// When a schedule that counts seconds acts.
        var dueAt: UInt64?
        /// The minute in which it last acted.
        var actedIn: WallTime?
    }

    private var schedules: [Schedule] = []

    mutating func change(_ list: [JSONValue], at now: WallTime) {
        for entry in list {
            guard let id = entry["id"]?.string.map({ String($0.prefix(Self.maximumID)) }), !id.isEmpty else { continue }
            let index = schedules.firstIndex { $0.id == id }
            switch entry["operation"]?.string {
            case "add": if index == nil { add(entry, id, now) }
            case "edit": if let index { edit(index, entry, now) } else { add(entry, id, now) }
            case "remove": schedules.removeAll { $0.id == id }
            case "enable": if let index { enable(index, now) }
            case "disable": if let index { schedules[index].isEnabled = false }
            default: continue
            }
        }
    }

    private mutating func add(_ entry: JSONValue, _ id: String, _ now: WallTime) {
        guard schedules.count < Self.maximum, let name = entry["name"]?.string, !name.isEmpty else { return }
        schedules.append(
            Schedule(id: id, name: String(name.prefix(Self.maximumName)), trigger: .object([]), action: .object([])))
        edit(schedules.count - 1, entry, now)
        enable(schedules.count - 1, now)
    }

    private mutating func edit(_ index: Int, _ entry: JSONValue, _ now: WallTime) {
        if let name = entry["name"]?.string, !name.isEmpty {
            schedules[index].name = String(name.prefix(Self.maximumName))
        }
        if let action = entry["action"], action.members != nil { schedules[index].action = action }
        for name in ["info", "flags", "validity"] {
            guard let value = entry[name] else { continue }
            schedules[index].others.removeAll { $0.name == name }
            // Firmware does not report what is empty.
            let isEmpty = value == "" || value == 0 || value["start"] == 0 && value["end"] == 0
            if !isEmpty { schedules[index].others.append(.init(name, value)) }
        }
        guard let trigger = entry["triggers"]?.array?.first, trigger.members != nil else { return }
        schedules[index].trigger = trigger
        if schedules[index].isEnabled { enable(index, now) }
    }

    private mutating func enable(_ index: Int, _ now: WallTime) {
        schedules[index].isEnabled = true
        schedules[index].actedIn = nil
        schedules[index].dueAt = schedules[index].trigger["rsec"]?.integer.map {
            now.milliseconds + UInt64(max(0, $0)) * 1000
        }
    }

    /// Returns the values of the schedules that act now. A schedule that does not repeat is disabled afterwards.
    mutating func fire(at now: WallTime) -> [JSONValue] {
        var actions: [JSONValue] = []
        for index in schedules.indices where schedules[index].isEnabled {
            let schedule = schedules[index]
            if let due = schedule.dueAt {
                guard due <= now.milliseconds else { continue }
                schedules[index].isEnabled = false
            } else {
                guard Self.matches(schedule.trigger, now), schedule.actedIn.map({ !$0.isSameMinute(now) }) ?? true
                else { continue }
                let repeats = (schedule.trigger["d"]?.integer ?? schedule.trigger["mm"]?.integer ?? 0) != 0
                schedules[index].isEnabled = repeats
            }
            schedules[index].actedIn = now
            actions.append(schedule.action)
        }
        return actions
    }

    private static func matches(_ trigger: JSONValue, _ now: WallTime) -> Bool {
        guard Int(trigger["m"]?.integer ?? -1) == now.minutes else { return false }
        func has(_ mask: Int64, _ bit: Int) -> Bool { mask == 0 || mask >> Int64(bit) & 1 == 1 }
        if let day = trigger["dd"]?.integer {
            let year = trigger["yy"]?.integer ?? 0
            return Int(day) == now.day && has(trigger["mm"]?.integer ?? 0, now.month)
                && (year == 0 || Int(year) == now.year)
        }
        return trigger["d"]?.integer.map { has($0, now.weekday) } ?? false
    }

    var json: JSONValue {
        .array(
            schedules.map { schedule in
                .object(
                    [
                        .init("name", .string(schedule.name)), .init("id", .string(schedule.id)),
                        .init("enabled", .bool(schedule.isEnabled)),
                    ] + schedule.others + [
                        .init("action", schedule.action), .init("triggers", [schedule.trigger]),
                    ])
            })
    }
}

extension WallTime {
    fileprivate func isSameMinute(_ other: WallTime) -> Bool {
        minutes == other.minutes && day == other.day && month == other.month && year == other.year
    }
}

/// The scenes of a node (`esp_rmaker_scenes.c`).
struct SceneList {
    /// `CONFIG_ESP_RMAKER_SCENES_MAX_SCENES`.
    static let maximum = 10

    private struct Scene {
        var id: String
        var name: String
        var action: JSONValue
        var info: JSONValue?
    }

    private var scenes: [Scene] = []

    /// - Returns: the values of the activated scenes.
    mutating func change(_ list: [JSONValue]) -> [JSONValue] {
        var actions: [JSONValue] = []
        for entry in list {
            guard let id = entry["id"]?.string.map({ String($0.prefix(ScheduleList.maximumID)) }), !id.isEmpty else {
                continue
            }
            let index = scenes.firstIndex { $0.id == id }
            switch entry["operation"]?.string {
            case "add" where index == nil, "edit" where index == nil: add(entry, id)
            case "edit": if let index { edit(index, entry) }
            case "remove": scenes.removeAll { $0.id == id }
            case "activate": if let index { actions.append(scenes[index].action) }
            default: continue
            }
        }
        return actions
    }

    private mutating func add(_ entry: JSONValue, _ id: String) {
        guard scenes.count < Self.maximum, let name = entry["name"]?.string, !name.isEmpty else { return }
        scenes.append(Scene(id: id, name: String(name.prefix(ScheduleList.maximumName)), action: .object([])))
        edit(scenes.count - 1, entry)
    }

    private mutating func edit(_ index: Int, _ entry: JSONValue) {
        if let name = entry["name"]?.string, !name.isEmpty {
            scenes[index].name = String(name.prefix(ScheduleList.maximumName))
        }
        if let action = entry["action"], action.members != nil { scenes[index].action = action }
        if let info = entry["info"] { scenes[index].info = info == "" ? Optional.none : info }
    }

    var json: JSONValue {
        .array(
            scenes.map { scene in
                .object(
                    [.init("name", .string(scene.name)), .init("id", .string(scene.id))]
                        + (scene.info.map { [.init("info", $0)] } ?? []) + [.init("action", scene.action)])
            })
    }
}
