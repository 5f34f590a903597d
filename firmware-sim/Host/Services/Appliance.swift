// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON

/// A device besides the light whose values the cloud and clients on the network can set: `--device lamp`.
///
/// Names, types and bounds are those of esp-rainmaker's standard types (`esp_rmaker_standard_types.h`).
struct Appliance {
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case lamp, `switch`, fan, thermostat
    }

    private struct Parameter {
        var name: String
        var type: String
        var dataType: String
        var isWritable = true
        var range: ClosedRange<Double>?
        var texts: [String] = []

        /// Whether firmware accepts the value.
        func accepts(_ value: JSONValue) -> Bool {
            guard isWritable else { return false }
            switch dataType {
            case "bool": return value.bool != nil
            case "string": return value.string.map { texts.isEmpty || texts.contains($0) } ?? false
            default:
                guard let number = value.double, dataType == "float" || value.integer != nil else { return false }
                return range?.contains(number) ?? true
            }
        }

        var configuration: JSONValue {
            var members: [JSONValue.Member] = [
                .init("name", .string(name)), .init("type", .string(type)), .init("data_type", .string(dataType)),
                .init("properties", isWritable ? ["read", "write"] : ["read"]),
            ]
            if let range {
                members.append(
                    .init(
                        "bounds",
                        [
                            "min": .integer(Int64(range.lowerBound)), "max": .integer(Int64(range.upperBound)),
                            "step": dataType == "float" ? 0.5 : 1,
                        ]))
            }
            if !texts.isEmpty { members.append(.init("valid_strs", .array(texts.map { .string($0) }))) }
            return .object(members)
        }
    }

    private let kind: Kind
    private var current: [JSONValue.Member]

    init(_ kind: Kind) {
        self.kind = kind
        current = Self.parameters(kind).map { parameter in
            let value: JSONValue =
                switch (parameter.name, parameter.dataType) {
                case (_, "bool"): false
                case ("Setpoint", _): 20.5
                case ("Temperature", _): 18.25
                case (_, "string"): .string(parameter.texts.first ?? "")
                case (_, "float"): .number(parameter.range?.lowerBound ?? 0)
                default: .integer(Int64(parameter.range?.lowerBound ?? 0))
                }
            return JSONValue.Member(parameter.name, value)
        }
    }

    /// The device's name.
    var device: String {
        switch kind {
        case .lamp: "Lamp"
        case .switch: "Switch"
        case .fan: "Fan"
        case .thermostat: "Thermostat"
        }
    }

    private var type: String {
        switch kind {
        case .lamp: "esp.device.lightbulb"
        case .switch: "esp.device.switch"
        case .fan: "esp.device.fan"
        case .thermostat: "esp.device.thermostat"
        }
    }

    private static func parameters(_ kind: Kind) -> [Parameter] {
        let power = Parameter(name: "Power", type: "esp.param.power", dataType: "bool")
        switch kind {
        case .lamp:
            return [
                power, Parameter(name: "Brightness", type: "esp.param.brightness", dataType: "int", range: 0...100),
                Parameter(name: "Hue", type: "esp.param.hue", dataType: "int", range: 0...360),
                Parameter(name: "Saturation", type: "esp.param.saturation", dataType: "int", range: 0...100),
                Parameter(name: "CCT", type: "esp.param.cct", dataType: "int", range: 2700...6500),
            ]
        case .switch: return [power]
        case .fan:
            return [
                power, Parameter(name: "Speed", type: "esp.param.speed", dataType: "int", range: 0...5),
                Parameter(name: "Direction", type: "esp.param.direction", dataType: "int", range: 0...1),
            ]
        case .thermostat:
            return [
                power,
                Parameter(
                    name: "Setpoint", type: "esp.param.setpoint-temperature", dataType: "float", range: 7...35),
                Parameter(name: "Temperature", type: "esp.param.temperature", dataType: "float", isWritable: false),
                Parameter(
                    name: "Mode", type: "esp.param.ac-mode", dataType: "string", texts: ["Auto", "Heat", "Cool"]),
            ]
        }
    }

    /// The device's entry in the node's configuration.
    var configuration: JSONValue {
        [
            "name": .string(device), "type": .string(type), "primary": "Power",
            "params": .array(Self.parameters(kind).map(\.configuration)),
        ]
    }

    /// The values, as the device's members.
    var values: JSONValue { .object(current) }

    /// Applies values of the device. Returns the accepted values, or nil if no value was accepted.
    mutating func set(_ values: JSONValue?) -> JSONValue? {
        var accepted: [JSONValue.Member] = []
        for member in values?.members ?? [] {
            guard let parameter = Self.parameters(kind).first(where: { $0.name == member.name }),
                parameter.accepts(member.value), let index = current.firstIndex(where: { $0.name == member.name })
            else { continue }
            current[index] = member
            accepted.append(member)
        }
        return accepted.isEmpty ? Optional.none : .object(accepted)
    }
}
