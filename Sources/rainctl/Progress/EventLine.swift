// SPDX-License-Identifier: Apache-2.0

/// One line of `--events ndjson`: the same eight members on every line, the node id once it is known, then further members.
struct EventLine<More: Encodable>: Encodable {
    let time: String
    let run: String
    let device: String
    /// nil, and `null`, before the first step.
    let step: String?
    let state: String
    let code: String
    let attempt: Int
    let elapsedMilliseconds: Int64
    let nodeID: String?
    let more: More

    private enum CodingKeys: String, CodingKey {
        case time = "ts"
        case run, device, step, state, code, attempt
        case elapsedMilliseconds = "elapsed_ms"
        case nodeID = "node_id"
    }

    func encode(to encoder: any Encoder) throws {
        try encodeOwn(to: encoder)
        try more.encode(to: encoder)
        // Results have some of these members too, and the line's own values count. Encoding a member again replaces it in its place.
        try encodeOwn(to: encoder)
    }

    private func encodeOwn(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        try container.encode(run, forKey: .run)
        try container.encode(device, forKey: .device)
        try container.encode(step, forKey: .step)
        try container.encode(state, forKey: .state)
        try container.encode(code, forKey: .code)
        try container.encode(attempt, forKey: .attempt)
        try container.encode(elapsedMilliseconds, forKey: .elapsedMilliseconds)
        try container.encodeIfPresent(nodeID, forKey: .nodeID)
    }
}

/// The further members of a warning's event.
struct WarningDetail: Encodable {
    let reason: String
    let detail: String

    init(_ warning: Warning) { (reason, detail) = (warning.reason, warning.message) }
}

/// The further member of a step's event.
struct EventDetail: Encodable {
    let detail: String?
}
