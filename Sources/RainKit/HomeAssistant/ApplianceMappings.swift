// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainMaker

/// A fan: power, speed and direction.
struct FanMapping: HomeAssistantMapping {
    var power: MappedParameter?
    var speed: MappedParameter?
    /// 0 is forward, 1 is reverse.
    var direction: MappedParameter?

    var commands: [String] {
        ["set"] + (speed == nil ? [] : ["percentage"]) + (direction == nil ? [] : ["direction"])
    }

    /// The speeds at which the fan turns.
    private var speeds: ClosedRange<Double> {
        let range = speed?.range(or: 0...5) ?? 0...5
        let low = max(range.lowerBound.rounded(), 1)
        return low...max(range.upperBound.rounded(.down), low + 1)
    }

    func configuration(state: String, _ command: (String) -> String) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("command_topic", .string(command("set"))),
            .init("state_value_template", "{{ value_json.state }}"),
        ]
        if speed != nil {
            // Home Assistant itself turns its percentage into a speed.
            members += [
                .init("percentage_state_topic", .string(state)),
                .init("percentage_value_template", "{{ value_json.speed }}"),
                .init("percentage_command_topic", .string(command("percentage"))),
                .init("speed_range_min", .integer(Int64(speeds.lowerBound))),
                .init("speed_range_max", .integer(Int64(speeds.upperBound))),
            ]
        }
        if direction != nil {
            members += [
                .init("direction_state_topic", .string(state)),
                .init("direction_value_template", "{{ value_json.direction }}"),
                .init("direction_command_topic", .string(command("direction"))),
            ]
        }
        return members
    }

    func state(_ values: NodeValues) -> [JSONValue.Member]? {
        let turning = speed.flatMap { values[$0]?.double }
        let isOn: Bool?
        if let power { isOn = values[power]?.bool } else { isOn = turning.map { $0 > 0 } }
        guard let isOn else { return nil }
        var members: [JSONValue.Member] = [.init("state", isOn ? "ON" : "OFF")]
        if let turning { members.append(.init("speed", .integer(Int64(min(max(turning, 0), speeds.upperBound))))) }
        if let direction {
            members.append(.init("direction", values[direction]?.integer == 1 ? "reverse" : "forward"))
        }
        return members
    }

    func changes(_ command: String, _ payload: String, _ values: NodeValues) throws(ParameterError)
        -> [ParameterChange]
    {
        switch command {
        case "set":
            if let power { return [try power.setting(onOff: payload)] }
            guard let speed else { return [] }
            guard ["ON", "OFF"].contains(payload) else {
                throw ParameterError(.wrongType, message: "The command must be ON or OFF.")
            }
            return [speed.setting(to: payload == "ON" ? speeds.upperBound : speed.range(or: 0...5).lowerBound)]
        case "percentage":
            guard let speed else { return [] }
            if payload == "0", let power { return [power.setting(false)] }
            return [try speed.setting(number: payload)]
        default:
            guard let direction, payload == "forward" || payload == "reverse" else {
                throw ParameterError(.notAllowed, message: "The direction must be forward or reverse.")
            }
            return [direction.setting(to: payload == "reverse" ? 1 : 0)]
        }
    }
}

/// Blinds and garage doors: a position from closed to open.
struct CoverMapping: HomeAssistantMapping {
    var position: MappedParameter
    var deviceClass: String

    var commands: [String] { ["set", "position"] }
    private var range: ClosedRange<Double> { position.range(or: 0...100) }

    func configuration(state: String, _ command: (String) -> String) -> [JSONValue.Member] {
        [
            .init("device_class", .string(deviceClass)),
            .init("command_topic", .string(command("set"))), .init("payload_stop", .null),
            .init("position_topic", .string(state)), .init("position_template", "{{ value_json.position }}"),
            .init("set_position_topic", .string(command("position"))),
            .init("position_open", .integer(Int64(range.upperBound))),
            .init("position_closed", .integer(Int64(range.lowerBound))),
        ]
    }

    func state(_ values: NodeValues) -> [JSONValue.Member]? {
        guard let value = values[position]?.double else { return nil }
        return [.init("position", .integer(Int64(min(max(value, range.lowerBound), range.upperBound))))]
    }

    func changes(_ command: String, _ payload: String, _ values: NodeValues) throws(ParameterError)
        -> [ParameterChange]
    {
        switch (command, payload) {
        case ("set", "OPEN"): [position.setting(to: range.upperBound)]
        case ("set", "CLOSE"): [position.setting(to: range.lowerBound)]
        case ("set", _): throw ParameterError(.notAllowed, message: "The command must be OPEN or CLOSE.")
        default: [try position.setting(number: payload)]
        }
    }
}

/// A lock: 0 is unlocked, 1 is locked, any other state is jammed.
struct LockMapping: HomeAssistantMapping {
    var lock: MappedParameter

    var commands: [String] { ["set"] }

    func configuration(state: String, _ command: (String) -> String) -> [JSONValue.Member] {
        [.init("command_topic", .string(command("set"))), .init("value_template", "{{ value_json.state }}")]
    }

    func state(_ values: NodeValues) -> [JSONValue.Member]? {
        switch values[lock] {
        case .integer(0)?, .bool(false)?: [.init("state", "UNLOCKED")]
        case .integer(1)?, .bool(true)?: [.init("state", "LOCKED")]
        case nil: nil
        default: [.init("state", "JAMMED")]
        }
    }

    func changes(_ command: String, _ payload: String, _ values: NodeValues) throws(ParameterError)
        -> [ParameterChange]
    {
        guard payload == "LOCK" || payload == "UNLOCK" else {
            throw ParameterError(.notAllowed, message: "The command must be LOCK or UNLOCK.")
        }
        let isLocked = payload == "LOCK"
        return [lock.setting(lock.parameter.dataType == "bool" ? .bool(isLocked) : .integer(isLocked ? 1 : 0))]
    }
}

/// A thermostat or an air conditioner.
struct ClimateMapping: HomeAssistantMapping {
    var power: MappedParameter?
    var target: MappedParameter?
    var current: MappedParameter?
    var humidity: MappedParameter?
    var mode: MappedParameter?
    var fan: MappedParameter?
    /// The mode of a device without a mode of its own that is on.
    var usualMode: String

    /// Returns Home Assistant's word for a board's word of a mode; nil if it has none.
    static func mode(_ text: String) -> String? {
        switch text.lowercased() {
        case "auto", "automatic": "auto"
        case "cool", "cooling": "cool"
        case "heat", "heating": "heat"
        case "dry", "dehumidify": "dry"
        case "fan", "fan only", "fan_only", "fan-only", "vent": "fan_only"
        case "heat_cool", "heat/cool", "heat cool", "heat-cool": "heat_cool"
        case "off": "off"
        default: nil
        }
    }

    /// Home Assistant's modes, each with the board's text.
    private var modes: [(home: String, board: String)] {
        var modes: [(home: String, board: String)] = []
        for text in mode?.parameter.validTexts ?? [] {
            guard let home = Self.mode(text), !modes.contains(where: { $0.home == home }) else { continue }
            modes.append((home, text))
        }
        return modes
    }

    var commands: [String] {
        (power == nil && mode == nil ? [] : ["mode"]) + (target == nil ? [] : ["temperature"])
            + (fan == nil ? [] : ["fan"])
    }

    func configuration(state: String, _ command: (String) -> String) -> [JSONValue.Member] {
        var names = modes.map(\.home)
        if names.isEmpty { names = [usualMode] }
        if power != nil, !names.contains("off") { names.insert("off", at: 0) }
        var members: [JSONValue.Member] = [
            .init("modes", .array(names.map { .string($0) })), .init("mode_state_topic", .string(state)),
            .init("mode_state_template", "{{ value_json.mode }}"), .init("temperature_unit", "C"),
        ]
        if power != nil || mode != nil { members.append(.init("mode_command_topic", .string(command("mode")))) }
        if let target {
            let range = target.range(or: 7...35)
            members += [
                .init("temperature_state_topic", .string(state)),
                .init("temperature_state_template", "{{ value_json.temperature }}"),
                .init("temperature_command_topic", .string(command("temperature"))),
                .init("min_temp", .number(range.lowerBound)), .init("max_temp", .number(range.upperBound)),
                .init("temp_step", .number(target.parameter.step == nil ? 0.5 : target.step)),
            ]
        }
        if current != nil {
            members += [
                .init("current_temperature_topic", .string(state)),
                .init("current_temperature_template", "{{ value_json.current_temperature }}"),
            ]
        }
        if humidity != nil {
            members += [
                .init("current_humidity_topic", .string(state)),
                .init("current_humidity_template", "{{ value_json.current_humidity }}"),
            ]
        }
        if let fan {
            let range = fan.range(or: 0...5)
            members += [
                .init("fan_mode_state_topic", .string(state)),
                .init("fan_mode_state_template", "{{ value_json.fan_mode }}"),
                .init("fan_mode_command_topic", .string(command("fan"))),
                .init(
                    "fan_modes",
                    .array(
                        (Int(range.lowerBound)...Int(min(range.upperBound, range.lowerBound + 20))).map {
                            .string("\($0)")
                        })),
            ]
        }
        return members
    }

    func state(_ values: NodeValues) -> [JSONValue.Member]? {
        var members: [JSONValue.Member] = []
        let text = mode.flatMap { values[$0]?.string }.flatMap { text in modes.first { $0.board == text }?.home }
        let isOn = power.flatMap { values[$0]?.bool }
        let shown: String? = isOn == false ? "off" : mode == nil ? usualMode : text
        members.append(.init("mode", shown.map { .string($0) } ?? .null))
        func number(_ name: String, _ parameter: MappedParameter?) {
            guard let parameter else { return }
            members.append(.init(name, values[parameter]?.double.map { .number($0) } ?? .null))
        }
        number("temperature", target)
        number("current_temperature", current)
        number("current_humidity", humidity)
        if let fan { members.append(.init("fan_mode", values[fan]?.integer.map { .string("\($0)") } ?? .null)) }
        return members
    }

    func changes(_ command: String, _ payload: String, _ values: NodeValues) throws(ParameterError)
        -> [ParameterChange]
    {
        switch command {
        case "mode":
            let known = modes.first { $0.home == payload }
            if payload == "off", let power { return [power.setting(false)] }
            guard let mode else {
                guard payload == usualMode, let power else {
                    throw ParameterError(.notAllowed, message: "The mode must be off or \(usualMode).")
                }
                return [power.setting(true)]
            }
            guard let known else {
                throw ParameterError(
                    .notAllowed,
                    message: "The mode must be one of \(modes.map(\.home).joined(separator: ", ")).")
            }
            return (power.map { [$0.setting(true)] } ?? []) + [mode.setting(.string(known.board))]
        case "temperature":
            return try target.map { (target) throws(ParameterError) in [try target.setting(number: payload)] } ?? []
        default: return try fan.map { (fan) throws(ParameterError) in [try fan.setting(number: payload)] } ?? []
        }
    }
}
