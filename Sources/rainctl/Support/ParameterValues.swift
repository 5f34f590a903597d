// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

/// Values on the command line, such as `Light.Power=on`.
enum GivenValue {
    /// Returns the path before the first =, and the value after it; nil for anything else.
    static func parts(_ text: String) -> (path: String, value: String)? {
        guard let equals = text.firstIndex(of: "="), isPath(text[..<equals]) else { return nil }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }

    /// Whether the text may be a device, a dot and a parameter. Only the node configuration can tell which dot separates them.
    static func isPath(_ text: Substring) -> Bool {
        guard let dot = text.firstIndex(of: ".") else { return false }
        return dot > text.startIndex && text.index(after: dot) < text.endIndex
    }

    /// Throws for a text of another form, and for two values of the same parameter.
    static func validate(_ texts: [String]) throws {
        var seen: Set<String> = []
        for text in texts {
            guard let (path, _) = parts(text) else {
                let path = text.prefix { $0 != "=" }
                let fault =
                    path.count == text.count
                    ? "has no value (a board's name with spaces needs quotation marks)"
                    : path.contains(".") ? "has an empty name" : "names a device or a parameter, but not both"
                throw ValidationError("\"\(text.onOneLine)\" \(fault): write DEVICE.PARAM=VALUE, without spaces.")
            }
            guard seen.insert(path).inserted else {
                throw ValidationError("\(path.onOneLine) is given twice.")
            }
        }
    }

    /// Returns the changes, checked against the board's node configuration.
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

    /// Returns the changes, checked against the node configuration; nil if there are none.
    static func changes(_ texts: [String], at node: Node) throws(RainKitError) -> [ParameterChange]? {
        let configuration = try node.described()
        if texts.isEmpty { return nil }
        do throws(ParameterError) { return try changes(texts, by: configuration) } catch {
            throw RainKitError(error, at: node.shownName)
        }
    }
}
