// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainJSON

/// The services of RainMaker's stock examples besides their device, and their reactions to values that the cloud sets.
///
/// Names, types and limits are those of esp-rainmaker's `esp_rmaker_standard_services.c`, `esp_rmaker_schedule.c` and
/// `esp_rmaker_scenes.c`. A value without I/O: its caller passes the time.
struct NodeServices {
    /// The actions for the application to take now.
    struct Effects {
        /// Values of the light, as the cloud would set them.
        var values: [JSONValue] = []
        /// Changes of the services to report.
        var reports: [JSONValue] = []
        /// Messages of time series.
        var series: [Sensor.Message] = []
        /// A service requests a restart.
        var restarts = false
        /// Messages about an update. They are not lost while the board is offline.
        var messages: [Sensor.Message] = []
        /// The address of an image to download.
        var image: String?

        mutating func add(_ actions: [SimulatedUpdate.Action]) {
            for action in actions {
                switch action {
                case .values(let values): reports.append(["OTA": values])
                case .publish(let message): messages.append(message)
                case .download(let url): image = url
                case .restart: restarts = true
                }
            }
        }
    }

    private let kinds: Set<ServiceKind>
    private var schedules = ScheduleList()
    private var scenes = SceneList()
    private var timeZone = ""
    private(set) var update: SimulatedUpdate

    /// The proof of possession that the node reports to the cloud for clients of its local control; nil if there is no local control, or it
    /// requires none.
    private let localProof: String?
    /// A device besides the light; nil without one.
    private(set) var sensor: Sensor?
    /// Another device besides the light; nil without one.
    private var appliance: Appliance?

    init(
        _ kinds: Set<ServiceKind>, update: SimulatedUpdate = SimulatedUpdate(), localProof: String? = nil,
        sensor: Sensor? = nil, appliance: Appliance? = nil
    ) {
        (self.sensor, self.appliance) = (sensor, appliance)
        self.kinds = kinds
        self.localProof = localProof
        self.update = update
    }

    /// Applies values that the cloud sets. Unknown values are ignored, as in firmware.
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
        if kinds.contains(.ota), let ota = values["OTA"] {
            if let url = ota["URL"]?.string, !url.isEmpty { effects.add(update.start(url, at: now)) }
            if let operation = ota["Operation"]?.string { effects.add(update.operate(operation, at: now)) }
        }
        if let device = appliance?.device, let accepted = appliance?.set(values[device]) {
            effects.reports.append(.object([.init(device, accepted)]))
        }
        return effects
    }

    /// Changes the update, and returns what follows.
    mutating func changeUpdate(_ body: (inout SimulatedUpdate) -> [SimulatedUpdate.Action]) -> Effects {
        var effects = Effects()
        effects.add(body(&update))
        return effects
    }

    /// Returns the effects that are due by now.
    mutating func advance(to now: WallTime) -> Effects {
        var effects = Effects()
        let actions = schedules.fire(at: now)
        if !actions.isEmpty {
            effects.values += actions
            effects.reports.append(["Schedule": ["Schedules": schedules.json]])
        }
        if sensor?.advance(to: now.milliseconds) == true, let sensor {
            effects.reports.append(.object([.init(Sensor.device, sensor.values)]))
            effects.series += sensor.messages
        }
        effects.add(update.advance(to: now))
        return effects
    }

    /// All values, as members of a JSON object.
    var members: [UInt8] {
        var all: [JSONValue.Member] = ServiceKind.allCases.filter { kinds.contains($0) }.compactMap { kind in
            switch kind {
            case .schedule: .init("Schedule", ["Schedules": schedules.json])
            case .scenes: .init("Scenes", ["Scenes": scenes.json])
            case .time: .init("Time", time)
            case .ota: .init("OTA", update.values)
            case .system: .init("System", ["Reboot": false])
            }
        }
        if let localProof { all.append(.init("Local Control", ["POP": .string(localProof), "Type": 1])) }
        if let sensor { all.append(.init(Sensor.device, sensor.values)) }
        if let appliance { all.append(.init(appliance.device, appliance.values)) }
        guard !all.isEmpty else { return [] }
        return Array(JSONValue.object(all).serialized().dropFirst().dropLast())
    }

    private var time: JSONValue { ["TZ": .string(timeZone), "TZ-POSIX": ""] }
}

/// The time of day at the board: milliseconds that only grow, and wall-clock time.
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
    /// Seconds since 1970.
    var seconds: Int64 = 0
}

extension WallTime {
    /// Returns this machine's time in its time zone.
    static func now(_ milliseconds: UInt64) -> WallTime {
        var seconds = time(nil)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return WallTime(
            milliseconds: milliseconds, minutes: Int(parts.tm_hour * 60 + parts.tm_min),
            weekday: Int(parts.tm_wday + 6) % 7, day: Int(parts.tm_mday), month: Int(parts.tm_mon),
            year: Int(parts.tm_year) + 1900, seconds: Int64(seconds))
    }
}

/// A service of the simulated node.
enum ServiceKind: String, ExpressibleByArgument, CaseIterable {
    case time, schedule, scenes, system
    /// Updates by a parameter; RainMaker's examples use separate topics for them (`--update-by topics`).
    case ota

    /// The service's entry in the node's configuration.
    var configuration: JSONValue {
        switch self {
        case .time:
            Self.service(
                "Time", "esp.service.time",
                [
                    Self.parameter("TZ", "esp.param.tz", "string", ["read", "write"]),
                    Self.parameter("TZ-POSIX", "esp.param.tz_posix", "string", ["read", "write"]),
                ])
        case .schedule:
            Self.service(
                "Schedule", "esp.service.schedule",
                [
                    Self.parameter(
                        "Schedules", "esp.param.schedules", "array", ["read", "write", "persist"], ScheduleList.maximum)
                ])
        case .scenes:
            Self.service(
                "Scenes", "esp.service.scenes",
                [
                    Self.parameter(
                        "Scenes", "esp.param.scenes", "array", ["read", "write", "persist"], SceneList.maximum)
                ])
        case .system:
            Self.service(
                "System", "esp.service.system",
                [Self.parameter("Reboot", "esp.param.reboot", "bool", ["read", "write"])])
        case .ota:
            Self.service(
                "OTA", "esp.service.ota",
                [
                    Self.parameter("Status", "esp.param.ota_status", "string", ["read"]),
                    Self.parameter("Info", "esp.param.ota_info", "string", ["read"]),
                    Self.parameter("URL", "esp.param.ota_url", "string", ["write"]),
                ])
        }
    }

    /// The service of firmware that asks its user for approval.
    static var updateApproval: JSONValue {
        service(
            "OTA", "esp.service.ota",
            [
                parameter("Operation", "esp.param.ota_operation", "string", ["write"], texts: ["check", "start"]),
                parameter("Info", "esp.param.ota_info", "object", ["read"]),
            ])
    }

    /// `esp_rmaker_create_local_control_service`, which firmware has only for Security 1.
    static var localControl: JSONValue {
        service(
            "Local Control", "esp.service.local_control",
            [
                parameter("POP", "esp.param.local_control_pop", "string", ["read"]),
                parameter("Type", "esp.param.local_control_type", "int", ["read"]),
            ])
    }

    private static func service(_ name: String, _ type: String, _ parameters: [JSONValue]) -> JSONValue {
        ["name": .string(name), "type": .string(type), "params": .array(parameters)]
    }

    private static func parameter(
        _ name: String, _ type: String, _ data: String, _ properties: [String], _ maximum: Int? = nil,
        texts: [String] = []
    ) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(name)), .init("type", .string(type)), .init("data_type", .string(data)),
            .init("properties", .array(properties.map { .string($0) })),
        ]
        if !texts.isEmpty { members.append(.init("valid_strs", .array(texts.map { .string($0) }))) }
        if let maximum { members.append(.init("bounds", ["max": .integer(Int64(maximum))])) }
        return .object(members)
    }
}

/// `--services time,schedule` or `none`.
struct ServicesOption: ExpressibleByArgument {
    var kinds: Set<ServiceKind>

    init(_ kinds: Set<ServiceKind>) { self.kinds = kinds }

    init?(argument: String) {
        if argument == "none" {
            kinds = []
            return
        }
        let named = argument.split(separator: ",", omittingEmptySubsequences: false).map {
            ServiceKind(rawValue: String($0))
        }
        guard !named.contains(nil) else { return nil }
        kinds = Set(named.compactMap(\.self))
    }

    var defaultValueDescription: String { ServiceKind.allCases.map(\.rawValue).joined(separator: ",") }
}

/// The node's commands: type, length and value, with one byte each for type and length (`esp_rmaker_cmd_resp.c` of RainMaker's common
/// component). One command returns its data, like `ESP_RMAKER_CMD_CUSTOM_START` in RainMaker's example; the next one returns the role of the
/// user who sent it.
enum NodeCommands {
    private enum Kind: UInt8 { case requestID = 1, role, status, timestamp, command, data }
    private static let echo: UInt16 = 0x1000
    private static let showRole: UInt16 = 0x1001
    private enum Status: UInt8 { case success, failed, invalid, refused, notFound }

    /// Returns the answer; nil for a message that cannot be read.
    static func answer(to message: [UInt8]) -> [UInt8]? {
        var (request, role, command, data): ([UInt8], UInt8, UInt16, [UInt8]) = ([], 0, 0, [])
        var rest = message[...]
        while !rest.isEmpty {
            guard let kind = rest.popFirst(), let length = rest.popFirst(), rest.count >= length else { return nil }
            let value = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            switch Kind(rawValue: kind) {
            case .requestID: request += value
            case .role: role = value.first ?? 0
            case .command where value.count == 2: command = UInt16(value.last!) << 8 | UInt16(value.first!)
            case .data: data += value
            default: break
            }
        }
        // Firmware keeps 31 bytes of an id.
        guard request.count < 32 else { return nil }
        let status: Status =
            request.isEmpty || role == 0 || command == 0
            ? .invalid : [echo, showRole].contains(command) ? .success : .notFound
        if command == showRole { data = roleText(role) }
        var answer: [UInt8] = []
        func add(_ kind: Kind, _ value: [UInt8]) {
            var rest = value[...]
            repeat {
                let piece = rest.prefix(255)
                answer += [kind.rawValue, UInt8(piece.count)] + piece
                rest = rest.dropFirst(piece.count)
            } while !rest.isEmpty
        }
        if !request.isEmpty { add(.requestID, request) }
        add(.status, [status.rawValue])
        add(.command, [UInt8(truncatingIfNeeded: command), UInt8(command >> 8)])
        if status == .success, !data.isEmpty { add(.data, data) }
        return answer
    }

    /// The role byte: 2 or 4 for a primary or secondary user in the lower half, a bit for each sub-role in the upper one.
    private static func roleText(_ role: UInt8) -> [UInt8] {
        let subRoles = (1...4).filter { role & (0x10 << UInt8($0 - 1)) != 0 }.map { "\($0)" }.joined(separator: ",")
        let name = role & 0x0F == 2 ? "primary" : role & 0x0F == 4 ? "secondary" : "other"
        return Array("{\"role\":\"\(name)\",\"sub_roles\":[\(subRoles)]}".utf8)
    }
}
