// SPDX-License-Identifier: Apache-2.0

/// Every board that was found. A person has read each when it was found: only scripts wait for the list.
struct DiscoveryResult: CommandResult {
    let boards: [DiscoveredBoardResult]

    var text: String { "" }
}

/// The line of `--events ndjson` for a warning.
struct WarningEvent: Encodable {
    let event = "warning"
    let reason: String
    let message: String

    private enum CodingKeys: CodingKey { case event, reason, message }

    init(_ warning: Warning) { (reason, message) = (warning.reason, warning.message) }
}

/// The line of `--events ndjson` for a board that was found.
struct FoundEvent: Encodable {
    let board: DiscoveredBoardResult

    private enum CodingKeys: CodingKey { case event }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("found", forKey: .event)
        try board.encode(to: encoder)
    }
}
