// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON

/// A service of the simulated node.
enum ServiceKind: String, ExpressibleByArgument, CaseIterable {
    case time, schedule, scenes, system
    /// Updates by a parameter; RainMaker's examples take them by topics of their own.
    case ota

    /// The entry of the node's configuration.
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

    /// `esp_rmaker_create_local_control_service`, which firmware has for Security 1 alone.
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
        _ name: String, _ type: String, _ data: String, _ properties: [String], _ maximum: Int? = nil
    ) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(name)), .init("type", .string(type)), .init("data_type", .string(data)),
            .init("properties", .array(properties.map { .string($0) })),
        ]
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
