// SPDX-License-Identifier: Apache-2.0
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
