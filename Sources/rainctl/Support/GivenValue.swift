// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
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
