// SPDX-License-Identifier: Apache-2.0

/// A deployment's settings, each under its own name; their origins beside them, under the same names, where those were asked for.
struct ProfileShowResult: CommandResult {
    let values: [ProfileSettings.Value]
    let showsOrigin: Bool

    func encode(to encoder: any Encoder) throws {
        var members = NamedMembers()
        for value in values { members.add(value.key, value.text) }
        if showsOrigin {
            var origins = NamedMembers()
            for value in values { origins.add(value.key, value.origin.description) }
            members.add("origins", origins)
        }
        try members.encode(to: encoder)
    }

    var text: String {
        let width = values.map(\.key.count).max() ?? 0
        return values.map { value in
            let key = value.key + String(repeating: " ", count: width - value.key.count)
            return "\(key)  \(value.text.onOneLine)" + (showsOrigin ? "  (\(value.origin))" : "")
        }.joined(separator: "\n")
    }
}
