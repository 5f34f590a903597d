// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker

// The documents of schedules and scenes that several boards have.

/// Schedules or scenes of several boards, each id once.
package struct EntryGroupListResult: Encodable, Sendable {
    /// The list's name: `schedules` or `scenes`.
    package let member: String
    package let groups: [EntryGroup]

    /// An entry, and the boards that have a copy.
    private struct Entry: Encodable, Sendable {
        let id: String
        let name: String
        let inSync: Bool
        /// The members in which the copies differ.
        let differs: [String]
        let nodeIds: [String]
        let nodes: [Copy]
    }

    /// A board's copy, as the board has reported it.
    private struct Copy: Encodable, Sendable {
        let nodeID: String
        let name: String
        let entry: JSONValue
    }

    package init(_ groups: [EntryGroup], of service: ListService) {
        self.groups = groups
        member = service == .schedules ? "schedules" : "scenes"
    }

    package func encode(to encoder: any Encoder) throws {
        var members = NamedMembers()
        members.add(
            member,
            groups.map { group in
                Entry(
                    id: group.id, name: group.name, inSync: group.isInSync, differs: group.differences.map(\.rawValue),
                    nodeIds: group.copies.map(\.node.rawValue),
                    nodes: group.copies.map {
                        Copy(nodeID: $0.node.rawValue, name: $0.nodeName, entry: $0.entry.document)
                    })
            })
        try members.encode(to: encoder)
    }
}

/// The change of a schedule or a scene on several boards.
package struct EntryBoardsResult: Encodable, Sendable {
    package let id: String
    package let name: String?
    package let nodes: [Entry]
    /// The entry's kind and name, such as `schedule Evening`.
    @TextOnly package private(set) var subject: String
    @TextOnly package private(set) var noun: String
    /// Why the cloud did not show whether boards have the change.
    @TextOnly private var untold: AccountError?

    package struct Entry: Encodable, Sendable {
        package let nodeID: String
        package let operation: String
        /// `reported` by the board, `sent` by the cloud, `silent` if the board did not report in time, `failed`, `unknown` if the cloud did not
        /// show whether it has sent the change, or `unchanged` if the board has what is wanted.
        package let state: String
        /// The reason of a failure, or what is known of a board that has not reported the change.
        package let message: String?
        package let errorCode: Int?
        /// The board's name, or its id.
        @TextOnly package fileprivate(set) var board: String
        /// Whether the cloud did not show if the board has the change.
        @TextOnly package fileprivate(set) var isUntold: Bool
    }

    /// - Parameters:
    ///   - outcomes: one for each board, at least one.
    ///   - noun: `schedule` or `scene`.
    ///   - names: the boards' names by their ids.
    package init(_ outcomes: [EntryOutcome], noun: String, names: [NodeID: String]) {
        id = outcomes.first?.id ?? ""
        name = outcomes.lazy.compactMap(\.name).first
        subject = "\(noun) \(outcomes.lazy.compactMap(\.name).first ?? outcomes.first?.id ?? "")".onOneLine
        self.noun = noun
        untold = outcomes.lazy.compactMap(\.unknown).first
        nodes = outcomes.map { outcome in
            Entry(
                nodeID: outcome.node.rawValue, operation: outcome.operation.rawValue, state: outcome.state,
                message: outcome.failure ?? outcome.unknown?.message ?? outcome.seen, errorCode: outcome.serverCode,
                board: (names[outcome.node] ?? outcome.node.rawValue).onOneLine, isUntold: outcome.unknown != nil)
        }
    }
}

extension EntryOutcome {
    fileprivate var state: String {
        if isUnchanged { return "unchanged" }
        if failure != nil { return "failed" }
        if isSendingUnknown { return "unknown" }
        return switch isReported {
        case true?: "reported"
        case false?: "silent"
        case nil: "sent"
        }
    }
}

extension EntryBoardsResult {
    /// The parts of a failure's message that name options and commands of a program. A library has none.
    package struct Hints: Sendable {
        /// Follows "in time", such as " (--timeout)".
        package var timeLimit = ""
        /// A sentence about boards that may lack the change, with a blank in front.
        package var toRepair = ""

        package init() {}
    }

    /// Why not all boards have the change; nil if they have it, or if nobody waited.
    package func failure(_ hints: Hints = Hints()) -> RainKitError? {
        let (failed, silent) = (nodes.filter { $0.state == "failed" }, nodes.filter { $0.state == "silent" })
        let tried = nodes.filter { $0.state != "unchanged" }
        if !failed.isEmpty {
            let words = failed.prefix(5).map { "\($0.board): \($0.message?.onOneLine ?? "")" }.joined(separator: "; ")
            return RainKitError(
                .request(.batchPartial, reason: failed.count == tried.count ? "all_failed" : "some_failed"),
                message:
                    "The \(subject) was not changed on \(failed.count) of \(tried.count) boards: \(words).\(others)\(hints.toRepair)"
            )
        }
        if let untold {
            var error = RainKitError(untold)
            error.message = error.message.asSentence + others + hints.toRepair
            return error
        }
        guard !silent.isEmpty else { return nil }
        // Boards from which a copy is removed may be among the others.
        let operations = Set(silent.map(\.operation))
        let what =
            operations.count == 1 ? Self.sent(silent[0].operation, "the \(subject)") : "the change of the \(subject)"
        let message =
            "The cloud has sent \(what), but these boards have not reported it in time\(hints.timeLimit): \(named(silent)).\(hints.toRepair)"
        if silent.count == tried.count {
            return RainKitError(.request(.deadline, reason: "deadline"), message: message)
        }
        return RainKitError(.request(.batchPartial, reason: "some_silent"), message: message)
    }

    /// Sentences about boards besides those that failed, each with a blank in front.
    package var others: String {
        let unsure = nodes.filter { $0.state == "unknown" }
        let sent = nodes.filter { $0.isUntold && $0.state != "unknown" && $0.state != "failed" }
        let silent = nodes.filter { $0.state == "silent" && !$0.isUntold }
        return sentence("It is not known whether the cloud has sent the change to", unsure)
            + sentence("The cloud has sent the change, but did not show whether these boards have it:", sent)
            + sentence("These boards have not reported the change in time:", silent)
    }

    /// What the cloud has sent: `the removal of schedule Dawn`. A new entry is sent itself.
    package static func sent(_ operation: String, _ subject: String) -> String {
        switch ServiceOperation(rawValue: operation) {
        case .add, .activate: subject
        case .remove: "the removal of \(subject)"
        case .edit, .enable, .disable, nil: "the change of \(subject)"
        }
    }

    private func sentence(_ words: String, _ entries: [Entry]) -> String {
        entries.isEmpty ? "" : " \(words) \(entries.prefix(5).map(\.board).joined(separator: ", "))."
    }

    private func named(_ entries: [Entry]) -> String {
        entries.prefix(5).map { $0.board + ($0.message.map { " (it \($0.onOneLine))" } ?? "") }.joined(separator: ", ")
            + (entries.count > 5 ? ", and \(entries.count - 5) more" : "")
    }
}
