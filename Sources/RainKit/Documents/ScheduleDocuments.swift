// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainMaker

// The documents of the lists that boards keep themselves: schedules and scenes.

/// The schedules or scenes of a board.
package struct EntryListResult: Encodable, Sendable {
    /// The list's name: `schedules` or `scenes`.
    package let member: String
    package let entries: [ServiceEntry]
    private let node: NodeID

    /// - Parameter member: `schedules` or `scenes`.
    package init(_ node: NodeID, _ entries: [ServiceEntry], member: String) {
        self.node = node
        self.entries = entries
        self.member = member
    }

    package func encode(to encoder: any Encoder) throws {
        var members = NamedMembers()
        members.add("node_id", node.rawValue)
        // The entries as the board has reported them, so that a program that reads and writes them loses nothing.
        members.add(member, entries.map(\.document))
        try members.encode(to: encoder)
    }
}

/// The change of a schedule or a scene.
package struct EntryResult: Encodable, Sendable {
    package let nodeID: String
    package let id: String
    package let operation: String
    /// `reported` by the board, or `sent` by the cloud.
    package let state: String
    /// What is known of a board that has not reported the change: `is offline`.
    package let message: String?
    /// The entry's kind and name, such as `schedule Evening`, and the board's name.
    @TextOnly package private(set) var subject: String
    @TextOnly package private(set) var board: String
    @TextOnly package private(set) var changesTime: Bool

    /// - Parameters:
    ///   - noun: `schedule` or `scene`.
    ///   - board: the board's name.
    package init(_ outcome: EntryOutcome, noun: String, of board: String) {
        nodeID = outcome.node.rawValue
        id = outcome.id
        operation = outcome.operation.rawValue
        subject = "\(noun) \(outcome.name ?? outcome.id)"
        self.board = board
        changesTime = outcome.changesTime
        state = outcome.isReported == true ? "reported" : "sent"
        message = outcome.isReported == nil ? outcome.seen : nil
    }
}
