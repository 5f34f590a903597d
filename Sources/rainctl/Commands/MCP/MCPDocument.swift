// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// The documents that go to a language model.
enum MCPDocument {
    /// The members with sentences of rainctl. Names in them are short already.
    private static let sentences: Set<[String]> = [
        ["error", "message"], ["message"], ["nodes", "message"], ["warnings", "message"],
    ]
    /// The members that come from this machine's settings.
    private static let own: Set<[String]> = [["base_url"], ["store_path"]]
    private static let maximumSentence = 2000

    /// Returns a document whose texts are short and have no character that nobody sees (``ForeignText``).
    ///
    /// - Parameter path: the names of the members around the value.
    static func cleaned(_ value: JSONValue, at path: [String] = []) -> JSONValue {
        switch value {
        case .string(let text):
            let isLong = sentences.contains(path) || own.contains(path)
            return .string(
                ForeignText.cleaned(text, maximumLength: isLong ? maximumSentence : ForeignText.maximumLength))
        case .array(let elements): return .array(elements.map { cleaned($0, at: path) })
        case .object(let members):
            var names: Set<String> = []
            var next: [String: Int] = [:]
            return .object(
                members.map { member in
                    let name = unused(ForeignText.cleaned(member.name), names, &next)
                    names.insert(name)
                    return .init(name, cleaned(member.value, at: path + [member.name]))
                })
        default: return value
        }
    }

    /// Two long names may begin alike, but the members of an object keep different names.
    ///
    /// - Parameter next: the number to try next, by name, so that many such names take no more time than others.
    private static func unused(_ name: String, _ taken: Set<String>, _ next: inout [String: Int]) -> String {
        guard taken.contains(name) else { return name }
        for number in next[name, default: 2]... {
            let end = "~\(number)"
            let scalars = name.unicodeScalars.prefix(ForeignText.maximumLength - end.unicodeScalars.count)
            let other = String(String.UnicodeScalarView(scalars)) + end
            guard taken.contains(other) else {
                next[name] = number + 1
                return other
            }
        }
        return name
    }
}
