// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// Finds a member that an object has twice. A parser of JSON keeps the last one, so a value would be lost silently.
enum RepeatedMember {
    /// Returns the name of the first member that its object repeats, at any depth; nil if no object repeats one.
    /// - Parameter text: valid JSON.
    static func first(in text: [UInt8]) -> String? {
        // The names so far of each open object; nil for an array.
        var open: [Set<String>?] = []
        var isName = false
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "{"):
                open.append([])
                isName = true
            case UInt8(ascii: "["):
                open.append(.none)
                isName = false
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if !open.isEmpty { open.removeLast() }
            case UInt8(ascii: ","): isName = open.last.map { $0 != nil } ?? false
            case UInt8(ascii: "\""):
                let end = endOfString(text, index)
                if isName, !open.isEmpty, let name = try? JSONValue(parsing: Array(text[index..<end])).string {
                    if open[open.count - 1]?.insert(name).inserted == false { return name }
                    isName = false
                }
                index = end
                continue
            default: break
            }
            index += 1
        }
        return nil
    }

    /// Returns the position after the string that begins there.
    private static func endOfString(_ text: [UInt8], _ start: Int) -> Int {
        var index = start + 1
        while index < text.count, text[index] != UInt8(ascii: "\"") {
            index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(text.count, index + 1)
    }
}
