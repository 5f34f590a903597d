// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker

// The documents of values: those that boards have reported, and the outcome of setting them.

/// Values that a board has reported.
package struct ParamsResult: Encodable, Sendable {
    package let nodeID: String
    package let params: JSONValue
    /// Whether one value was asked for by its whole path. Its text is the value alone.
    @TextOnly package private(set) var isSingle: Bool
    /// The board's name, for people.
    @TextOnly package private(set) var name: String?

    /// The requested part of all values.
    package struct Chosen: Sendable {
        package var params: JSONValue
        /// Whether one path was given and it leads to one value.
        package var isSingle: Bool
    }

    package init(node: NodeID, name: String? = nil, _ chosen: Chosen) {
        self.name = name
        nodeID = node.rawValue
        params = chosen.params
        isSingle = chosen.isSingle
    }

    /// Selects the requested values. A secret is shown only if its whole path is given.
    ///
    /// - Parameters:
    ///   - paths: `Light` or `Light.Power`; all values if empty.
    ///   - node: the board's name in messages.
    ///   - configuration: the node configuration that the board has reported.
    /// - Throws: `no_such_parameter` for a path that the board has not reported.
    package static func chosen(
        _ paths: [String], of values: JSONValue, _ node: String, _ configuration: NodeConfiguration?
    ) throws(RainKitError) -> Chosen {
        let secrets = SecretParameters(of: configuration)
        guard !paths.isEmpty else { return Chosen(params: secrets.masked(in: values), isSingle: false) }
        let all = [ParameterChange](reported: values)
        var wanted: [ParameterChange] = []
        for path in paths {
            let found = all.filter { "\($0.path)" == path || $0.path.component == path }
            guard !found.isEmpty else {
                let known = all.prefix(20).map { "\($0.path)".onOneLine }.joined(separator: ", ")
                let message =
                    Self.unreported(path, configuration).map { "\(node): \(path.onOneLine) \($0)." }
                    ?? "\(node) has not reported \(path.onOneLine); it has reported \(known.isEmpty ? "nothing" : known)."
                throw RainKitError(.request(.badData, reason: "no_such_parameter"), message: message)
            }
            let isNamed = Self.isNamed(path, all)
            let shown = isNamed ? found : [ParameterChange](reported: secrets.masked(in: found.json))
            wanted += shown.filter { !wanted.contains($0) }
        }
        return Chosen(params: wanted.json, isSingle: paths.count == 1 && isNamed(paths[0], all))
    }

    /// Why the reported values do not include a parameter of the board; nil if the board does not have this parameter.
    private static func unreported(_ path: String, _ configuration: NodeConfiguration?) -> String? {
        guard let configuration, let found = try? configuration.path(path),
            let parameter = configuration.component(found.component)?.parameter(found.parameter)
        else { return nil }
        return parameter.isReadable
            ? "has not been reported yet" : "can be set, but not read: the board does not report this value"
    }

    /// Whether the path leads to a value and not to a device. A device's name may also contain a dot.
    private static func isNamed(_ path: String, _ all: [ParameterChange]) -> Bool {
        all.contains { "\($0.path)" == path }
    }
}

/// Values that several boards have reported.
package struct ParamsListResult: Encodable, Sendable {
    package let nodes: [ParamsResult]

    package init(nodes: [ParamsResult]) { self.nodes = nodes }
}

/// The outcome of setting values, board by board.
package struct ParamsSetResult: Encodable, Sendable {
    package let nodes: [Entry]
    /// Whether the board itself was asked, without the cloud.
    @TextOnly package private(set) var isLocal: Bool
    /// The name that a renamed board gets.
    @TextOnly package private(set) var newName: String?
    /// Why the cloud did not show whether boards have reported the values.
    @TextOnly private var untold: AccountError?
    /// The boards' names by their ids.
    @TextOnly private var names: [String: String]

    package struct Entry: Encodable, Sendable {
        package let nodeID: String
        /// `reported` by the board, `sent` by the cloud, `silent` if the board did not report in time, or `failed`. `unknown` if the cloud did
        /// not show whether it has sent the values.
        package let state: String
        /// The reason of a failure, or what the board reports instead.
        package let message: String?
        package let errorCode: Int?
        /// Paths whose values boards never report as they were set. It is only known that they were sent.
        package let notReported: [String]?
        /// Whether all paths are in `notReported`.
        @TextOnly package fileprivate(set) var isSentOnly: Bool
        /// Whether the cloud did not show if the board has the values.
        @TextOnly package fileprivate(set) var isUntold: Bool
        /// Whether the board was offline when the values were sent, and nobody waited for it.
        @TextOnly package fileprivate(set) var isOffline: Bool
    }

    /// - Parameters:
    ///   - names: the boards' names by their ids, for messages.
    ///   - newName: the name that a board gets, if the values are only that.
    package init(
        _ outcomes: [ParameterSetOutcome], names: [String: String] = [:], newName: String? = nil, isLocal: Bool = false
    ) {
        // Boards with one name are reported apart by their ids.
        let counts = Dictionary(grouping: names.values) { $0.lowercased() }.mapValues(\.count)
        self.names = names.filter { counts[$0.value.lowercased()] == 1 }
        self.newName = newName
        self.isLocal = isLocal
        untold = outcomes.lazy.compactMap(\.unknown).first
        nodes = outcomes.map { outcome in
            let state =
                if outcome.failure != nil { "failed" } else if outcome.isSendingUnknown { "unknown" } else {
                    switch outcome.isReported {
                    case true?: "reported"
                    case false?: "silent"
                    case nil: "sent"
                    }
                }
            let unreported = outcome.unreported.map { "\($0)" }
            return Entry(
                nodeID: outcome.node.rawValue, state: state,
                message: outcome.failure ?? outcome.unknown?.message ?? outcome.seen, errorCode: outcome.serverCode,
                notReported: unreported.isEmpty ? nil : unreported, isSentOnly: outcome.isSentOnly,
                isUntold: outcome.unknown != nil,
                isOffline: state == "sent" && outcome.unknown == nil && outcome.seen != nil)
        }
    }

    /// The board's name, or its id if it has no name of its own.
    package func shown(_ entry: Entry) -> String { (names[entry.nodeID] ?? entry.nodeID).onOneLine }
}

extension ParamsSetResult {
    /// The parts of a failure's message that name options and commands of a program. A library has none.
    package struct Hints: Sendable {
        /// Follows "in time", such as " (--timeout)".
        package var timeLimit = ""
        /// Returns the end of a sentence about boards, of which the first has this id.
        package var ofBoards: @Sendable (_ nodeID: String) -> String = { _ in "" }

        package init() {}
    }

    /// Why not all boards have the values; nil if they have them.
    package var failure: RainKitError? { failure(Hints()) }

    package func failure(_ hints: Hints) -> RainKitError? {
        let (failed, silent) = (nodes.filter { $0.state == "failed" }, nodes.filter { $0.state == "silent" })
        if !failed.isEmpty {
            let words = failed.prefix(5).map { "\(shown($0)): \($0.message?.onOneLine ?? "")" }
                .joined(separator: "; ")
            return RainKitError(
                .request(.batchPartial, reason: failed.count == nodes.count ? "all_failed" : "some_failed"),
                message:
                    "The values were not set on \(failed.count) of \(nodes.count) boards: \(words).\(others(hints))")
        }
        if let untold {
            var error = RainKitError(untold)
            error.message = error.message.asSentence + others(hints)
            return error
        }
        guard !silent.isEmpty else { return nil }
        let only = shown(silent[0])
        let seen = silent[0].message.map { "\($0.onOneLine), and " } ?? ""
        let message =
            switch (isLocal, nodes.count) {
            case (true, _):
                "\(only) has accepted the values, but does not report them\(silent[0].instead)."
            case (false, 1):
                "\(only) \(seen)has not reported the values in time\(hints.timeLimit), although the cloud has sent them."
            default:
                "The cloud has sent the values, but these boards have not reported them in time\(hints.timeLimit): "
                    + "\(names(of: silent))."
            }
        if nodes.count == silent.count {
            return RainKitError(.request(.deadline, reason: "deadline"), message: message)
        }
        return RainKitError(.request(.batchPartial, reason: "some_silent"), message: message)
    }

    /// Sentences about boards besides those that failed, each with a blank in front. It is not known whether the cloud has sent them the
    /// values, or whether they have reported them, or they did not report them in time.
    package func others(_ hints: Hints) -> String {
        let untold = nodes.filter(\.isUntold)
        let (unsure, sent) = (untold.filter { $0.state == "unknown" }, untold.filter { $0.state != "unknown" })
        let silent = nodes.filter { $0.state == "silent" }
        return sentence("It is not known whether the cloud has sent the values to", unsure, hints)
            + sentence(
                "The cloud has sent the values, but did not show whether these boards have reported them:", sent, hints)
            + (silent.isEmpty ? "" : " These boards have not reported the values in time: \(names(of: silent)).")
    }

    private func sentence(_ words: String, _ entries: [Entry], _ hints: Hints) -> String {
        guard let first = entries.first else { return "" }
        let names = entries.prefix(5).map(shown).joined(separator: ", ")
        return " \(words) \(names)\(hints.ofBoards(first.nodeID))."
    }

    /// The silent boards, with what they report instead.
    private func names(of silent: [Entry]) -> String {
        silent.prefix(5).map { entry in
            shown(entry) + (entry.message.map { " (it \($0.onOneLine))" } ?? "")
        }.joined(separator: ", ")
    }
}

extension ParamsSetResult.Entry {
    /// The end of a sentence about a silent board: what it reports instead.
    package var instead: String { message.map { "; it \($0.onOneLine)" } ?? "" }
}
