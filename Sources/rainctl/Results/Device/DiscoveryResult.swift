// SPDX-License-Identifier: Apache-2.0

/// Every board that was found. A person has read each when it was found: only scripts wait for the list.
struct DiscoveryResult: CommandResult {
    let boards: [DiscoveredBoardResult]

    var text: String { "" }
}

/// The line of `device discover --events ndjson` for a warning.
struct WarningEvent: Encodable {
    let time: String
    let event = "warning"
    let reason: String
    let message: String

    private enum CodingKeys: String, CodingKey {
        case time = "ts"
        case event, reason, message
    }

    init(_ warning: Warning, at time: String) {
        (self.time, reason, message) = (time, warning.reason, warning.message)
    }
}

/// The line of `device discover --events ndjson` for a board that was found.
struct FoundEvent: Encodable {
    let time: String
    let board: DiscoveredBoardResult

    private enum CodingKeys: String, CodingKey {
        case time = "ts"
        case event
    }

    init(_ board: DiscoveredBoardResult, at time: String) { (self.time, self.board) = (time, board) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        try container.encode("found", forKey: .event)
        try board.encode(to: encoder)
    }
}
