// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainMaker

/// A parameter that is on or off: a switch, an outlet, or a sensor for two states.
struct OnOffMapping: HomeAssistantMapping {
    var parameter: MappedParameter
    var deviceClass: String?
    var isSwitch: Bool

    var commands: [String] { isSwitch ? ["set"] : [] }

    func configuration(state: String, _ command: (String) -> String) -> [JSONValue.Member] {
        [.init("value_template", "{{ value_json.state }}")]
            + (isSwitch ? [.init("command_topic", .string(command("set")))] : [])
            + (deviceClass.map { [.init("device_class", .string($0))] } ?? [])
    }

    func state(_ values: NodeValues) -> [JSONValue.Member]? {
        values[parameter]?.bool.map { [.init("state", $0 ? "ON" : "OFF")] }
    }

    func changes(_ command: String, _ payload: String, _ values: NodeValues) throws(ParameterError)
        -> [ParameterChange]
    { [try parameter.setting(onOff: payload)] }
}

/// A number that is measured or set.
struct NumberMapping: HomeAssistantMapping {
    var parameter: MappedParameter
    var deviceClass: String?
    var unit: String?
    var isSet: Bool
    var isSlider = false

    /// The bounds of a number whose board names none: those of firmware's integers.
    private static let usual = -2_147_483_648.0...2_147_483_647.0

    var commands: [String] { isSet ? ["set"] : [] }

    func configuration(state: String, _ command: (String) -> String) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [.init("value_template", "{{ value_json.value }}")]
        if let deviceClass { members.append(.init("device_class", .string(deviceClass))) }
        if let unit { members.append(.init("unit_of_measurement", .string(unit))) }
        guard isSet else {
            return members + [.init("state_class", "measurement")]
        }
        let range = parameter.range(or: Self.usual)
        return members + [
            .init("command_topic", .string(command("set"))), .init("min", .number(range.lowerBound)),
            .init("max", .number(range.upperBound)), .init("step", .number(max(parameter.step, 0.001))),
            .init("mode", isSlider ? "slider" : "box"),
        ]
    }

    func state(_ values: NodeValues) -> [JSONValue.Member]? {
        guard let value = values[parameter] else { return nil }
        guard let number = value.double, number.isFinite else { return [.init("value", .null)] }
        // Home Assistant refuses a number outside the bounds of what can be set.
        guard isSet, !parameter.range(or: Self.usual).contains(number) else { return [.init("value", value)] }
        return [.init("value", .null), .init("reported", value)]
    }

    func changes(_ command: String, _ payload: String, _ values: NodeValues) throws(ParameterError)
        -> [ParameterChange]
    { [try parameter.setting(number: payload)] }
}

/// A text that is shown, written, or chosen from a list.
struct TextMapping: HomeAssistantMapping {
    var parameter: MappedParameter
    /// The texts to choose from; nil for any text.
    var options: [String]?
    var isSet: Bool

    /// Home Assistant's limit for a state, in characters.
    private static let maximumState = 255

    var commands: [String] { isSet ? ["set"] : [] }

    func configuration(state: String, _ command: (String) -> String) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [.init("value_template", "{{ value_json.value }}")]
        if isSet { members.append(.init("command_topic", .string(command("set")))) }
        if let options {
            members.append(.init("options", .array(options.map { .string($0) })))
        } else if isSet {
            members.append(.init("max", .integer(Int64(Self.maximumState))))
        }
        return members
    }

    func state(_ values: NodeValues) -> [JSONValue.Member]? {
        guard let value = values[parameter] else { return nil }
        let text: String
        switch value {
        case .string(let given): text = given
        case .bool(let flag): text = flag ? "true" : "false"
        case .array, .object, .null: return [.init("value", .null)]
        default: text = String(decoding: value.serialized(), as: UTF8.self)
        }
        guard let options else {
            let shown = text.unicodeScalars.prefix(Self.maximumState).reduce(into: "") { $0.unicodeScalars.append($1) }
            return [.init("value", .string(shown))]
        }
        guard options.contains(text) else {
            return [.init("value", .null), .init("reported", .string(text.onOneLine))]
        }
        return [.init("value", .string(text))]
    }

    func changes(_ command: String, _ payload: String, _ values: NodeValues) throws(ParameterError)
        -> [ParameterChange]
    {
        guard parameter.parameter.dataType != "string" else { return [parameter.setting(.string(payload))] }
        // The board does not say what it accepts.
        return [parameter.setting((try? JSONValue(parsing: Array(payload.utf8))) ?? .string(payload))]
    }
}

/// A button: a restart, or anything that the firmware does when a parameter is set to true.
struct ButtonMapping: HomeAssistantMapping {
    var parameter: MappedParameter
    var deviceClass: String?

    var commands: [String] { ["set"] }

    func configuration(state: String, _ command: (String) -> String) -> [JSONValue.Member] {
        [.init("command_topic", .string(command("set")))]
            + (deviceClass.map { [.init("device_class", .string($0))] } ?? [])
    }

    func state(_ values: NodeValues) -> [JSONValue.Member]? { [] }

    func changes(_ command: String, _ payload: String, _ values: NodeValues) throws(ParameterError)
        -> [ParameterChange]
    {
        guard payload == "PRESS" else { throw ParameterError(.notAllowed, message: "The command must be PRESS.") }
        return [parameter.setting(true)]
    }
}

/// The firmware: its version, and an update that waits for its user's approval.
struct UpdateMapping: HomeAssistantMapping {
    /// `esp.param.ota_operation`; nil for firmware that asks nobody.
    var operation: MappedParameter?
    /// `esp.param.ota_info`: an object with `fw_version` where an update waits.
    var info: MappedParameter?

    var commands: [String] { operation == nil ? [] : ["set"] }

    func configuration(state: String, _ command: (String) -> String) -> [JSONValue.Member] {
        [.init("device_class", "firmware")]
            + (operation == nil
                ? [] : [.init("command_topic", .string(command("set"))), .init("payload_install", "INSTALL")])
    }

    func state(_ values: NodeValues) -> [JSONValue.Member]? {
        guard let version = values.firmwareVersion else { return nil }
        let waiting = operation == nil ? nil : info.flatMap { values[$0]?["fw_version"]?.string }
        return [
            .init("installed_version", .string(version.onOneLine)),
            .init("latest_version", .string((waiting ?? version).onOneLine)),
        ]
    }

    func changes(_ command: String, _ payload: String, _ values: NodeValues) throws(ParameterError)
        -> [ParameterChange]
    {
        guard payload == "INSTALL", let operation else {
            throw ParameterError(.notAllowed, message: "The command must be INSTALL.")
        }
        return [operation.setting(.string("start"))]
    }
}

/// Whether the board is online.
struct ConnectivityMapping: HomeAssistantMapping {
    func configuration(state: String, _ command: (String) -> String) -> [JSONValue.Member] {
        [.init("value_template", "{{ value_json.state }}"), .init("device_class", "connectivity")]
    }

    func state(_ values: NodeValues) -> [JSONValue.Member]? { [.init("state", values.isConnected ? "ON" : "OFF")] }
}
