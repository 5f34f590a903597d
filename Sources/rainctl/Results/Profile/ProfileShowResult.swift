// SPDX-License-Identifier: Apache-2.0

/// A deployment's settings, each under its own name; with its origin where that was asked for.
struct ProfileShowResult: CommandResult {
    let values: [ProfileSettings.Value]
    let showsOrigin: Bool

    private struct ValueWithOrigin: Encodable {
        let value: String
        let origin: String
    }

    func encode(to encoder: any Encoder) throws {
        var members = NamedMembers()
        for value in values {
            if showsOrigin {
                members.add(value.key, ValueWithOrigin(value: value.text, origin: value.origin.description))
            } else {
                members.add(value.key, value.text)
            }
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
