// SPDX-License-Identifier: Apache-2.0
import Logging

/// A line of the log in `--log-format json`: what every line has, then its metadata, sorted by name.
struct LogLine: Encodable {
    let time: String
    let level: Logger.Level
    let label: String
    let message: String
    let metadata: Logger.Metadata

    private enum CodingKeys: String, CodingKey {
        case time = "ts"
        case level, label, message
    }

    func encode(to encoder: any Encoder) throws {
        var members = NamedMembers()
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) where CodingKeys(rawValue: name) == nil {
            members.add(name, "\(value)")
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        try container.encode("\(level)", forKey: .level)
        try container.encode(label, forKey: .label)
        try container.encode(message, forKey: .message)
        try members.encode(to: encoder)
    }
}
