// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainMaker

/// A lamp (`schema: json`): power, brightness, colour and colour temperature in one command, as people set them together.
struct LightMapping: HomeAssistantMapping {
    var power: MappedParameter?
    var brightness: MappedParameter?
    var hue: MappedParameter?
    var saturation: MappedParameter?
    var temperature: MappedParameter?
    /// `esp.param.light-mode`: 1 is colour, 2 is white.
    var mode: MappedParameter?

    var commands: [String] { ["set"] }

    /// Home Assistant's brightness ends at 255. Most firmware counts to 100.
    private var brightnessScale: NumberScale? {
        brightness.map { NumberScale($0, usual: 0...100, top: 255) }
    }
    private var hasColor: Bool { hue != nil && saturation != nil }

    private var modes: [String] {
        let modes = (hasColor ? ["hs"] : []) + (temperature == nil ? [] : ["color_temp"])
        return !modes.isEmpty ? modes : brightness == nil ? ["onoff"] : ["brightness"]
    }

    func configuration(state: String, _ command: (String) -> String) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("schema", "json"), .init("command_topic", .string(command("set"))),
            .init("brightness", .bool(brightness != nil)), .init("color_mode", true),
            .init("supported_color_modes", .array(modes.map { .string($0) })),
        ]
        if let white = temperature.map(WhiteScale.init) {
            members.append(.init("min_mireds", .integer(Int64(white.mireds.lowerBound.rounded(.up)))))
            members.append(.init("max_mireds", .integer(Int64(white.mireds.upperBound.rounded(.down)))))
        }
        return members
    }

    func state(_ values: NodeValues) -> [JSONValue.Member]? {
        let shown = brightness.flatMap { values[$0]?.double }
        let isOn: Bool?
        if let power {
            isOn = values[power]?.bool
        } else {
            isOn = shown.map { $0 > (brightnessScale?.range.lowerBound ?? 0) }
        }
        guard let isOn else { return nil }
        var members: [JSONValue.Member] = [.init("state", isOn ? "ON" : "OFF")]
        if let scale = brightnessScale, let shown {
            let number = Int64(scale.shown(shown))
            members.append(.init("brightness", .integer(scale.range.lowerBound > 0 ? max(1, number) : number)))
        }
        switch currentMode(values) {
        case "hs":
            guard let hue, let saturation else { break }
            let (degrees, percent) = (values[hue]?.double ?? 0, values[saturation]?.double ?? 0)
            members.append(.init("color_mode", "hs"))
            members.append(
                .init(
                    "color",
                    [
                        "h": .number(NumberScale(hue, usual: 0...360, top: 360).shown(degrees)),
                        "s": .number(NumberScale(saturation, usual: 0...100, top: 100).shown(percent)),
                    ]))
        case "color_temp":
            guard let temperature, let value = values[temperature]?.double else { break }
            members.append(.init("color_mode", "color_temp"))
            members.append(.init("color_temp", .integer(Int64(WhiteScale(temperature).mireds(of: value).rounded()))))
        case let mode: members.append(.init("color_mode", .string(mode)))
        }
        return members
    }

    /// Without a mode of its own, a lamp with both shows colour while its saturation is above zero.
    private func currentMode(_ values: NodeValues) -> String {
        guard modes.count == 2 else { return modes[0] }
        switch mode.flatMap({ values[$0]?.integer }) {
        case 1: return "hs"
        case 2: return "color_temp"
        default: return saturation.flatMap { values[$0]?.double }.map { $0 > 0 } ?? false ? "hs" : "color_temp"
        }
    }

    func changes(_ command: String, _ payload: String, _ values: NodeValues) throws(ParameterError)
        -> [ParameterChange]
    {
        guard let json = try? JSONValue(parsing: Array(payload.utf8)), json.members != nil else {
            throw ParameterError(.wrongType, message: "The command must be a JSON object.")
        }
        var changes: [ParameterChange] = []
        let wanted = json["brightness"]?.double
        switch json["state"]?.string {
        case "ON":
            if let power {
                changes.append(power.setting(true))
            } else if let brightness, let scale = brightnessScale, wanted == nil {
                changes.append(brightness.setting(to: scale.range.upperBound))
            }
        case "OFF":
            // A lamp that is switched off keeps its colour.
            if let power { return [power.setting(false)] }
            return brightness.flatMap { parameter in
                brightnessScale.map { [parameter.setting(to: $0.range.lowerBound)] }
            }
                ?? []
        default:
            throw ParameterError(.wrongType, message: "The command must have a state of ON or OFF.")
        }
        if let brightness, let scale = brightnessScale, let wanted {
            changes.append(brightness.setting(to: scale.set(wanted, isLight: true)))
        }
        if let hue, let saturation, let degrees = json["color"]?["h"]?.double, let percent = json["color"]?["s"]?.double
        {
            changes.append(hue.setting(to: NumberScale(hue, usual: 0...360, top: 360).set(degrees)))
            changes.append(saturation.setting(to: NumberScale(saturation, usual: 0...100, top: 100).set(percent)))
            if let mode, temperature != nil { changes.append(mode.setting(to: 1)) }
        } else if let temperature, let mireds = json["color_temp"]?.double {
            changes.append(temperature.setting(to: WhiteScale(temperature).value(of: mireds)))
            if hasColor {
                if let mode {
                    changes.append(mode.setting(to: 2))
                } else if let saturation {
                    changes.append(
                        saturation.setting(to: NumberScale(saturation, usual: 0...100, top: 100).range.lowerBound))
                }
            }
        }
        return changes
    }
}

/// White from warm to cool. Home Assistant counts mireds (a million divided by kelvin). Boards count kelvin, or percent of cool white.
struct WhiteScale: Sendable, Equatable {
    private static let usual = 2700.0...6500.0

    private let range: ClosedRange<Double>
    private let step: Double
    private let isPercent: Bool

    init(_ parameter: MappedParameter) {
        range = parameter.range(or: Self.usual)
        step = parameter.step
        isPercent = range.upperBound <= 500
    }

    private var kelvin: ClosedRange<Double> {
        isPercent ? Self.usual : max(range.lowerBound, 1000)...max(range.upperBound, 1001)
    }

    var mireds: ClosedRange<Double> { 1e6 / kelvin.upperBound...1e6 / kelvin.lowerBound }

    func mireds(of value: Double) -> Double {
        let inside = min(max(value, range.lowerBound), range.upperBound)
        guard isPercent else { return 1e6 / max(inside, kelvin.lowerBound) }
        let share = (inside - range.lowerBound) / (range.upperBound - range.lowerBound)
        return 1e6 / (kelvin.lowerBound + share * (kelvin.upperBound - kelvin.lowerBound))
    }

    func value(of mireds: Double) -> Double {
        let kelvin = min(max(1e6 / max(mireds, 1), kelvin.lowerBound), kelvin.upperBound)
        guard isPercent else { return snapped(kelvin) }
        let share = (kelvin - Self.usual.lowerBound) / (Self.usual.upperBound - Self.usual.lowerBound)
        return snapped(range.lowerBound + share * (range.upperBound - range.lowerBound))
    }

    private func snapped(_ value: Double) -> Double {
        let steps = ((value - range.lowerBound) / step).rounded()
        return min(max(range.lowerBound + steps * step, range.lowerBound), range.upperBound)
    }
}
