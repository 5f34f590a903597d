// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What became of values that were to be set, board by board.
struct ParamsSetResult: CommandResult {
    let nodes: [Entry]
    /// The board was asked itself, and no cloud.
    private let isLocal: Bool
    /// Why it is not known whether boards have reported them.
    private let untold: AccountError?

    private enum CodingKeys: String, CodingKey { case nodes }

    struct Entry: Encodable, Sendable {
        let nodeID: String
        /// `reported` by the board, `sent` by the cloud, `silent` where the board was waited for in vain, `unknown` where the cloud did not
        /// tell whether it has sent them, or `failed`.
        let state: String
        /// Why not, or what the board reports instead.
        let message: String?
        let errorCode: Int?
        /// Paths whose values no board reports as they were set: that they were sent is all that is known of them.
        let notReported: [String]?
        /// There are no others.
        fileprivate let isSentOnly: Bool
        /// The cloud does not tell whether the board has them.
        fileprivate let isUntold: Bool

        private enum CodingKeys: String, CodingKey {
            case nodeID = "node_id"
            case state, message
            case errorCode = "error_code"
            case notReported = "not_reported"
        }
    }

    var text: String {
        nodes.map { entry in
            let words =
                switch entry.state {
                case "reported": "has it" + Self.besides(entry.notReported)
                case "sent" where entry.isSentOnly:
                    isLocal
                        ? "has taken it; it cannot be read back"
                        : "sent by the cloud; the board does not report it back"
                case "unknown": "whether the cloud has sent it is not known"
                case "sent" where entry.isUntold: "sent by the cloud; whether the board has it is not known"
                case "sent": "sent by the cloud; the board has not answered yet (--wait waits for that)"
                case "silent" where isLocal: "has taken it, and does not report it" + Self.instead(entry)
                case "silent": "sent by the cloud; the board has not reported it in time" + Self.instead(entry)
                default: "failed: \(entry.message?.onOneLine ?? "")"
                }
            return "\(entry.nodeID.onOneLine)  \(words)"
        }.joined(separator: "\n")
    }

    private static func besides(_ paths: [String]?) -> String {
        guard let paths else { return "" }
        return "; \(paths.prefix(5).map(\.onOneLine).joined(separator: ", ")) was sent, and cannot be read back"
    }

    private static func instead(_ entry: Entry) -> String { entry.message.map { "; it \($0.onOneLine)" } ?? "" }

    init(_ outcomes: [ParameterSetter.Outcome], isLocal: Bool = false) {
        self.isLocal = isLocal
        untold = outcomes.lazy.compactMap(\.untold).first
        nodes = outcomes.map { outcome in
            let state =
                if outcome.failure != nil { "failed" } else if outcome.isSendingUntold { "unknown" } else {
                    switch outcome.isReported {
                    case true?: "reported"
                    case false?: "silent"
                    case nil: "sent"
                    }
                }
            let unreported = outcome.unreported.map { "\($0)" }
            return Entry(
                nodeID: outcome.node.rawValue, state: state,
                message: outcome.failure ?? outcome.untold?.message ?? outcome.seen, errorCode: outcome.serverCode,
                notReported: unreported.isEmpty ? nil : unreported, isSentOnly: outcome.isSentOnly,
                isUntold: outcome.untold != nil)
        }
    }

    /// Prints it; throws where not all boards have what was wanted, so that a script notices.
    func tell(_ context: Context) throws(CommandFailure) { try tell(context.output) }

    func tell(_ output: Output) throws(CommandFailure) {
        guard var failure else { return output.result(self) }
        if !output.isJSON { output.result(self) }
        failure.result = self
        throw failure
    }

    private var failure: CommandFailure? {
        let (failed, silent) = (nodes.filter { $0.state == "failed" }, nodes.filter { $0.state == "silent" })
        let names = silent.prefix(5).map { entry in
            entry.nodeID.onOneLine + (entry.message.map { " (it \($0.onOneLine))" } ?? "")
        }.joined(separator: ", ")
        let late = silent.isEmpty ? "" : " Not reported in time by \(names)."
        guard !failed.isEmpty else {
            if let untold {
                var failure = CommandFailure(untold)
                failure.message += unknown + late
                return failure
            }
            guard !silent.isEmpty else { return nil }
            let message =
                isLocal
                ? "\(silent[0].nodeID.onOneLine) has taken the values, and does not report them\(Self.instead(silent[0]))."
                : "The cloud has sent the values, and they were not reported in time (--timeout) by \(names)."
            if nodes.count == silent.count { return CommandFailure(.deadline, message: message) }
            return CommandFailure(.batchPartial, reason: "some_silent", message: message)
        }
        let words = failed.prefix(5).map { "\($0.nodeID.onOneLine): \($0.message?.onOneLine ?? "")" }
            .joined(separator: "; ")
        return CommandFailure(
            .batchPartial, reason: failed.count == nodes.count ? "all_failed" : "some_failed",
            message: "\(failed.count) of \(nodes.count) boards were not set: \(words).\(unknown)\(late)")
    }

    /// That values are out of which the cloud does not tell whether they have come, or may be out.
    private var unknown: String {
        let untold = nodes.filter(\.isUntold)
        let (unsure, sent) = (untold.filter { $0.state == "unknown" }, untold.filter { $0.state != "unknown" })
        return Self.sentence("It is not known whether the cloud has sent the values to", unsure)
            + Self.sentence("The cloud has sent the values, and does not tell whether they were reported by", sent)
    }

    private static func sentence(_ words: String, _ entries: [Entry]) -> String {
        let names = entries.prefix(5).map(\.nodeID.onOneLine)
        guard let first = entries.first?.nodeID.asShellWord else { return "" }
        return " \(words) \(names.joined(separator: ", ")): rainctl node params get \(first) shows that."
    }
}

/// A board is no longer in the account.
struct NodeRemovedResult: CommandResult {
    let nodeID: String
    let removed = true

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case removed
    }

    var text: String { "\(nodeID.onOneLine) is no longer in your account." }
}
