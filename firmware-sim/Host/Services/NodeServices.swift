// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The services that RainMaker's stock examples have beside their device, and what they do with the values that the cloud sets.
///
/// Names, types and limits are those of esp-rainmaker's `esp_rmaker_standard_services.c`, `esp_rmaker_schedule.c` and `esp_rmaker_scenes.c`.
/// A value without I/O: its clock is handed in.
struct NodeServices {
    /// What the application does now.
    struct Effects {
        /// Values of the light, as the cloud would set them.
        var values: [JSONValue] = []
        /// What of the services has changed and is to be reported.
        var reports: [JSONValue] = []
        /// A service asks for a restart.
        var restarts = false
        /// An update of the firmware has begun.
        var updates = false
    }

    let kinds: Set<ServiceKind>
    private(set) var schedules = ScheduleList()
    private(set) var scenes = SceneList()
    private var timeZone = ""
    private(set) var update: FirmwareUpdate

    /// What the node tells the cloud for clients of its local control; nil where there is none, or it wants no proof of possession.
    private let localProof: String?

    init(_ kinds: Set<ServiceKind>, update end: FirmwareUpdate.End = .success, localProof: String? = nil) {
        self.kinds = kinds
        self.localProof = localProof
        update = FirmwareUpdate(end)
    }

    /// Takes over what the cloud sets; what these services do not have is left out, as firmware does.
    mutating func set(_ values: JSONValue, at now: WallTime) -> Effects {
        var effects = Effects()
        if kinds.contains(.schedule), let list = values["Schedule"]?["Schedules"]?.array {
            schedules.change(list, at: now)
            effects.reports.append(["Schedule": ["Schedules": schedules.json]])
        }
        if kinds.contains(.scenes), let list = values["Scenes"]?["Scenes"]?.array {
            effects.values += scenes.change(list)
            effects.reports.append(["Scenes": ["Scenes": scenes.json]])
        }
        if kinds.contains(.time), let zone = values["Time"]?["TZ"]?.string, zone.utf8.count <= 64 {
            timeZone = zone
            effects.reports.append(["Time": time])
        }
        if kinds.contains(.system), values["System"]?["Reboot"]?.bool == true { effects.restarts = true }
        if kinds.contains(.ota), let url = values["OTA"]?["URL"]?.string, !url.isEmpty, update.start(at: now) {
            effects.updates = true
            effects.reports.append(["OTA": update.json])
        }
        return effects
    }

    /// What is due by now.
    mutating func advance(to now: WallTime) -> Effects {
        var effects = Effects()
        let actions = schedules.fire(at: now)
        if !actions.isEmpty {
            effects.values += actions
            effects.reports.append(["Schedule": ["Schedules": schedules.json]])
        }
        if update.advance(to: now) {
            effects.reports.append(["OTA": update.json])
            effects.restarts = update.restarts
        }
        return effects
    }

    /// All values, as members of a JSON object.
    var members: [UInt8] {
        var all: [JSONValue.Member] = ServiceKind.allCases.filter { kinds.contains($0) }.compactMap { kind in
            switch kind {
            case .schedule: .init("Schedule", ["Schedules": schedules.json])
            case .scenes: .init("Scenes", ["Scenes": scenes.json])
            case .time: .init("Time", time)
            case .ota: .init("OTA", update.json)
            case .system: .init("System", ["Reboot": false])
            }
        }
        if let localProof { all.append(.init("Local Control", ["POP": .string(localProof), "Type": 1])) }
        guard !all.isEmpty else { return [] }
        return Array(JSONValue.object(all).serialized().dropFirst().dropLast())
    }

    private var time: JSONValue { ["TZ": .string(timeZone), "TZ-POSIX": ""] }
}

/// The time of day at the board: milliseconds that only grow, and what a clock on the wall shows.
struct WallTime: Equatable {
    /// For durations.
    var milliseconds: UInt64
    /// Minutes since midnight.
    var minutes: Int
    /// Monday is 0.
    var weekday: Int
    var day: Int
    /// January is 0.
    var month: Int
    var year: Int
}
