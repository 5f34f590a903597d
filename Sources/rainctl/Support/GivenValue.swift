// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// `Light.Power=on`, as values are given on the command line.
enum GivenValue {
    /// Up to the first dot the device, up to the first = behind it the parameter; nil for anything else.
    static func parts(_ text: String) -> (path: ParameterPath, value: String)? {
        guard let equals = text.firstIndex(of: "="), let dot = text[..<equals].firstIndex(of: ".") else { return nil }
        let (component, parameter) = (text[..<dot], text[text.index(after: dot)..<equals])
        guard !component.isEmpty, !parameter.isEmpty else { return nil }
        return (
            ParameterPath(component: String(component), parameter: String(parameter)),
            String(text[text.index(after: equals)...])
        )
    }

    /// Refuses what is none of these, and two values for the same parameter.
    static func validate(_ texts: [String]) throws {
        var seen: Set<ParameterPath> = []
        for text in texts {
            guard let (path, _) = parts(text) else {
                throw ValidationError("\(text.onOneLine) is not a value: they are given as DEVICE.PARAM=VALUE.")
            }
            guard seen.insert(path).inserted else {
                throw ValidationError("\("\(path)".onOneLine) is given twice.")
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
            changes.append(try configuration.change(path, from: value))
        }
        return changes
    }
}
