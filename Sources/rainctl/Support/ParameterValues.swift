// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

/// `Light.Power=on`, as values are given on the command line.
enum GivenValue {
    /// The path up to the first =, and the value behind it; nil for anything else.
    static func parts(_ text: String) -> (path: String, value: String)? {
        guard let equals = text.firstIndex(of: "="), isPath(text[..<equals]) else { return nil }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }

    /// Whether it may be a device, a dot and a parameter. Which dot it is only the board's configuration can say.
    static func isPath(_ text: Substring) -> Bool {
        guard let dot = text.firstIndex(of: ".") else { return false }
        return dot > text.startIndex && text.index(after: dot) < text.endIndex
    }

    /// Refuses what is none of these, and two values for the same parameter.
    static func validate(_ texts: [String]) throws {
        var seen: Set<String> = []
        for text in texts {
            guard let (path, _) = parts(text) else {
                throw ValidationError("\(text.onOneLine) is not a value: they are given as DEVICE.PARAM=VALUE.")
            }
            guard seen.insert(path).inserted else {
                throw ValidationError("\(path.onOneLine) is given twice.")
            }
        }
    }

    /// Read and checked by what the board has said of itself.
    static func changes(
        _ texts: [String], by configuration: NodeConfiguration
    ) throws(ParameterError) -> [ParameterChange] {
        var changes: [ParameterChange] = []
        for text in texts {
            guard let (path, value) = parts(text) else { continue }
            changes.append(try configuration.change(try configuration.path(path), from: value))
        }
        return changes
    }
}

extension NodeConfiguration {
    /// The path that a person means, who sees devices and parameters joined by a dot, and may see dots in their names, too: that of a
    /// parameter that there is, or else of the longest device's name that there is, so that the parameter is told to be wrong.
    func path(_ text: String) throws(ParameterError) -> ParameterPath {
        let all = text.indices.filter { text[$0] == "." }.map { dot in
            ParameterPath(component: String(text[..<dot]), parameter: String(text[text.index(after: dot)...]))
        }
        let known = all.filter { component($0.component)?.parameter($0.parameter) != nil }
        guard known.count < 2 else {
            let meanings = known.map { "\($0.parameter) of \($0.component)" }.joined(separator: ", or ")
            throw ParameterError(
                .ambiguousPath,
                message:
                    "\(text) may mean \(meanings). A JSON file tells them apart: {\"DEVICE\":{\"PARAMETER\":VALUE}}."
                    .onOneLine)
        }
        return known.first ?? all.last { component($0.component) != nil } ?? all.first
            ?? ParameterPath(component: text, parameter: "")
    }
}

extension JSONValue {
    /// Whether a board that was set to a value may report this for it. Firmware keeps numbers with a fraction as `float`, and the members of an
    /// object in an order of its own.
    func isReport(of wanted: JSONValue) -> Bool {
        switch (self, wanted) {
        case (.integer(let number), .integer(let wanted)): return number == wanted
        case (.array(let elements), .array(let wanted)):
            return elements.count == wanted.count && zip(elements, wanted).allSatisfy { $0.isReport(of: $1) }
        case (.object(let members), .object(let wanted)):
            // Of a name that is repeated the last counts, on both sides.
            let values = Dictionary(members.map { ($0.name, $0.value) }) { $1 }
            let wanted = Dictionary(wanted.map { ($0.name, $0.value) }) { $1 }
            return values.count == wanted.count
                && wanted.allSatisfy { name, wanted in values[name].map { $0.isReport(of: wanted) } ?? false }
        default:
            guard let number = double, let wanted = wanted.double else { return self == wanted }
            return Self.isFloat(number, of: wanted)
        }
    }

    /// A `float` is reported with all of its digits (0.69999998807907104 for 0.7), or with five behind the point (json_generator).
    private static func isFloat(_ reported: Double, of wanted: Double) -> Bool {
        if reported == wanted { return true }
        let (kept, wanted) = (Float(reported), Float(wanted))
        // Beyond the range of `float` there is nothing to compare.
        guard kept.isFinite, wanted.isFinite else { return false }
        return kept == wanted || abs(reported - Double(wanted)) <= 0.000_005_000_1
    }
}

/// Values of a board that are secrets: shown where they are asked for by name, and nowhere else.
///
/// It is the proof of possession of local control, which the firmware reports to the cloud for its owner's phone.
struct SecretParameters: Sendable {
    /// What `esp_rmaker_local_ctrl.c` calls it; a board that has said nothing of itself can have values all the same.
    private static let usual = ParameterPath(component: "Local Control", parameter: "POP")

    private let paths: Set<ParameterPath>

    /// - Parameter configuration: what the node has said of itself: firmware of one's own may have other names for the same type.
    init(of configuration: NodeConfiguration?) {
        var paths: Set = [Self.usual]
        for component in configuration?.components ?? [] {
            for parameter in component.parameters where parameter.type == "esp.param.local_control_pop" {
                paths.insert(ParameterPath(component: component.name, parameter: parameter.name))
            }
        }
        self.paths = paths
    }

    func contains(_ path: ParameterPath) -> Bool { paths.contains(path) }

    /// Values as they may be shown: a secret is there, and its value is not.
    func masked(in values: JSONValue) -> JSONValue {
        // On the tree itself: whatever else a board reports must not uncover the secret.
        guard let components = values.members else { return values }
        return .object(
            components.map { component in
                guard let values = component.value.members else { return component }
                let shown = values.map { value in
                    let path = ParameterPath(component: component.name, parameter: value.name)
                    return contains(path) ? JSONValue.Member(value.name, .masked) : value
                }
                return JSONValue.Member(component.name, .object(shown))
            })
    }
}

extension Node {
    var secretParameters: SecretParameters { SecretParameters(of: NodeConfiguration(configuration)) }
}

extension JSONValue {
    static let masked: JSONValue = "<secret>"
}
