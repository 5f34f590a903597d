// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// The schedules or scenes of a board.
struct EntryListResult: CommandResult {
    private var members = NamedMembers()
    private(set) var text: String

    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }

    /// - Parameter member: `schedules` or `scenes`.
    init(_ node: NodeID, _ entries: [ServiceEntry], member: String) {
        members.add("node_id", node.rawValue)
        // As the board has reported them, so that nothing is lost to whoever reads and writes them.
        members.add(member, entries.map(\.document))
        text =
            entries.isEmpty
            ? "There are no \(member)."
            : entries.map { entry in
                let state = entry.isEnabled.map { $0 ? "  on " : "  off" } ?? ""
                let times = entry.triggers.map(\.words).joined(separator: "; ")
                let when = times.isEmpty ? "" : "  \(times)"
                let values = ([ParameterChange](entry.action) ?? []).map { "\($0.path)=\($0.value.shown)" }
                return "\(entry.id)\(state)  \(entry.name)\(when)  \(values.joined(separator: " "))".onOneLine
            }.joined(separator: "\n")
    }
}

/// What was done to a schedule or a scene.
struct EntryResult: CommandResult {
    let nodeID: String
    let id: String
    let operation: String
    /// `reported` by the board, or `sent` by the cloud.
    let state: String
    private let noun: String
    private let changesTime: Bool

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case id, operation, state
    }

    init(
        node: NodeID, noun: String, id: String, operation: ServiceOperation, isReported: Bool, changesTime: Bool = false
    ) {
        nodeID = node.rawValue
        self.id = id
        self.operation = operation.rawValue
        self.noun = noun
        self.changesTime = changesTime
        state = isReported ? "reported" : "sent"
    }

    var text: String {
        var end = state == "reported" ? "the board has it" : "sent by the cloud; the board has not answered yet"
        // The cloud knows the old time until then, and the next edit would begin with that.
        if state == "sent", operation == ServiceOperation.edit.rawValue, changesTime {
            end +=
                ". Until it has, an edit of a part of the time keeps the rest of the old one: "
                + "give --wait, or the whole time"
        }
        return "\(noun) \(id): \(operation), \(end)".onOneLine
    }
}
