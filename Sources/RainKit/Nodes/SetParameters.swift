// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainJSON
import RainMaker

extension RainKitClient {
    /// Sets one value of a node, such as `Light.Power`.
    ///
    /// ```swift
    /// let lamp = try await kit.node(named: "Kitchen lamp")
    /// try await kit.set("Light.Power", to: true, at: lamp, waiting: .seconds(10))
    /// ```
    ///
    /// The parameter, the type of the value and its bounds are checked by what the node has reported of itself, before anything is sent.
    ///
    /// - Parameters:
    ///   - path: the device or service, a dot, and the parameter.
    ///   - limit: how long to wait for the node to report the value; nil to return as soon as the cloud has sent it.
    /// - Throws: `RainKitError`: `no_such_component`, `no_such_parameter`, `wrong_type`, `out_of_bounds` and the other codes of
    ///   `ParameterError`; the cloud's refusals.
    @discardableResult
    public func set(
        _ path: String, to value: JSONValue, at node: Node, waiting limit: Duration? = nil
    ) async throws -> ParameterSetOutcome {
        try await set([try node.change(path, to: value)], at: node, waiting: limit)
    }

    /// Sets several values of one node, as the function for one value does.
    @discardableResult
    public func set(
        _ changes: [ParameterChange], at node: Node, waiting limit: Duration? = nil
    ) async throws -> ParameterSetOutcome {
        // There is one outcome for each node.
        try await set([(node, changes)], waiting: limit)[0]
    }

    /// Sets values at several nodes. All values are checked before the first one is sent.
    ///
    /// - Parameter limit: how long to wait for all nodes together to report the values; nil to return as soon as the cloud has sent them.
    /// - Returns: the outcome at each node. A node that failed does not keep the others from their values.
    /// - Throws: `RainKitError`, as the function for one value does. A refusal of the cloud is thrown if there is only one node, or if it
    ///   concerns all of them.
    public func set(
        _ wanted: [(node: Node, changes: [ParameterChange])], waiting limit: Duration? = nil
    ) async throws -> [ParameterSetOutcome] {
        var checked: [(node: Node, changes: [ParameterChange])] = []
        for (given, changes) in wanted {
            var node = given
            if wanted.contains(where: { $0.node.id != node.id && $0.node.displayName == node.displayName }) {
                node.isShownWithID = true
            }
            let configuration = try node.described()
            do throws(ParameterError) {
                checked.append((node, try configuration.checked(changes)))
            } catch {
                throw RainKitError(error, at: node.shownName)
            }
        }
        return try await setter(waiting: limit).set(checked)
    }

    /// - Parameter limit: how long the nodes are waited for; nil for not at all.
    func setter(waiting limit: Duration?) throws(RainKitError) -> ParameterSetter {
        do throws(AccountError) {
            return ParameterSetter(
                cloud: try cloud(), time: Timekeeper(configuration.tools.timer), wait: limit)
        } catch {
            throw RainKitError(error)
        }
    }
}

extension Node {
    /// Makes a change of one value, such as `Light.Power`, after checking it by what the node has reported of itself.
    ///
    /// - Parameter path: the device or service, a dot, and the parameter.
    /// - Throws: `RainKitError`: `no_configuration`, `no_such_component`, `no_such_parameter`, `wrong_type` and the other codes of
    ///   `ParameterError`.
    public func change(_ path: String, to value: JSONValue) throws -> ParameterChange {
        let configuration = try described()
        do throws(ParameterError) {
            return try configuration.checked([ParameterChange(try configuration.path(path), value)])[0]
        } catch {
            throw RainKitError(error, at: shownName)
        }
    }
}

/// The outcome of setting values at one node.
public struct ParameterSetOutcome: Sendable {
    /// The node.
    public var node: NodeID
    /// Why the cloud did not send the values to the node; nil if it did.
    public var failure: String?
    /// The cloud's number for the failure.
    public var serverCode: Int?
    /// Whether the node has reported the values. Nil if nobody waited, or if the node reports none of these parameters.
    public var isReported: Bool?
    /// The parameters that the node never reports: those that can only be written, and those that make the node act, such as a restart.
    public var unreported: [ParameterPath] = []
    /// Whether the node reports none of the parameters. Nothing is waited for then.
    public var isSentOnly = false
    /// What is known of the node if it has not reported the values, to be read behind its name: "is offline", or what it reports.
    public var seen: String?
    /// Why it is not known whether the node has reported the values: the cloud did not say.
    public var unknown: AccountError?
    /// Whether it is not even known if the cloud has sent the values.
    public var isSendingUnknown = false

    public init(
        node: NodeID, failure: String? = nil, serverCode: Int? = nil, isReported: Bool? = nil,
        unreported: [ParameterPath] = [], isSentOnly: Bool = false, seen: String? = nil,
        unknown: AccountError? = nil, isSendingUnknown: Bool = false
    ) {
        self.node = node
        self.failure = failure
        self.serverCode = serverCode
        self.isReported = isReported
        self.unreported = unreported
        self.isSentOnly = isSentOnly
        self.seen = seen
        self.unknown = unknown
        self.isSendingUnknown = isSendingUnknown
    }

    /// The cloud's outcome at one of several nodes. An outcome that the cloud did not report is not a failure.
    init(_ outcome: ParameterOutcome) {
        node = outcome.node
        serverCode = outcome.serverCode
        unknown = outcome.untold
        isSendingUnknown = outcome.untold != nil
        failure = isSendingUnknown ? nil : outcome.failure
    }

    fileprivate mutating func take(_ report: ParameterSetter.Report?) {
        switch report {
        // A node that reports the values has them, whatever the cloud said about sending them.
        case .held?:
            (isReported, unknown) = (true, nil)
            isSendingUnknown = false
        case .other? where isSendingUnknown: break
        case .other(let seen)?: (isReported, self.seen) = (false, seen)
        case .unknown(let error)?: unknown = error
        case nil: break
        }
    }

    package mutating func leaveOut(_ unreported: [ParameterPath], of changes: [ParameterChange]) {
        self.unreported = unreported
        isSentOnly = unreported.count == changes.count
    }
}

/// Sends values through the cloud, and waits until the nodes have reported them.
package struct ParameterSetter: Sendable {
    let cloud: any NodeCloud
    let time: Timekeeper
    let wait: Duration?

    private static let offline = "is offline"

    /// The outcome of waiting for a node.
    fileprivate enum Report: Sendable {
        case held
        case other(seen: String?)
        case unknown(AccountError)
    }

    /// - Parameter isDone: whether a node's report shows that the change was made. Unless given, the node has to report the values.
    package func set(
        _ wanted: [(node: Node, changes: [ParameterChange])], isDone: (@Sendable (Node) -> Bool)? = nil
    ) async throws(RainKitError) -> [ParameterSetOutcome] {
        // The time that sending takes is not left for waiting.
        let end = wait.map { time.elapsed() + $0 }
        do throws(AccountError) {
            var outcomes = try await send(wanted)
            if isDone == nil {
                for (index, (node, changes)) in zip(outcomes.indices, wanted) where outcomes[index].failure == nil {
                    outcomes[index].leaveOut(
                        changes.unreported(by: NodeConfiguration(node.configuration)), of: changes)
                }
            }
            guard let end else {
                for (index, (node, _)) in zip(outcomes.indices, wanted)
                where outcomes[index].failure == nil && node.connectivity?.isConnected == false {
                    outcomes[index].seen = Self.offline
                }
                return outcomes
            }
            let sent = Set(outcomes.filter { $0.failure == nil && !$0.isSentOnly }.map(\.node))
            let reports = try await reports(of: wanted.filter { sent.contains($0.node.id) }, until: end, isDone)
            for index in outcomes.indices { outcomes[index].take(reports[outcomes[index].node]) }
            return outcomes
        } catch {
            throw RainKitError(error)
        }
    }

    private func send(
        _ wanted: [(node: Node, changes: [ParameterChange])]
    ) async throws(AccountError) -> [ParameterSetOutcome] {
        if wanted.count == 1 {
            // A failure at the only node is the failure of the call.
            try await cloud.set(wanted[0].changes, at: wanted[0].node.id)
            return [ParameterSetOutcome(node: wanted[0].node.id)]
        }
        return try await cloud.set(wanted.map { ($0.node.id, $0.changes) }).map { ParameterSetOutcome($0) }
    }

    /// Waits for all nodes at once: one that is gone does not shorten the time of the others.
    private func reports(
        of wanted: [(node: Node, changes: [ParameterChange])], until end: Duration,
        _ isDone: (@Sendable (Node) -> Bool)?
    ) async throws(AccountError) -> [NodeID: Report] {
        let results = await withTaskGroup(of: (NodeID, Result<Report, AccountError>).self) { group in
            for (node, changes) in wanted {
                group.addTask {
                    let reported = changes.reported(by: NodeConfiguration(node.configuration))
                    let values = isDone == nil ? reported : []
                    let isDone = isDone ?? { Self.holds(reported, in: $0.parameters) }
                    // In one expression with the id, Swift 6.3.1 with -Osize leaves out the id of a success: the group's result is then nil.
                    let outcome: Result<Report, AccountError>
                    do throws(AccountError) {
                        outcome = .success(try await report(of: node.id, until: end, values, isDone))
                    } catch {
                        outcome = .failure(error)
                    }
                    return (node.id, outcome)
                }
            }
            var reports: [NodeID: Result<Report, AccountError>] = [:]
            for await (node, report) in group {
                reports[node] = report
                if case .failure = report { group.cancelAll() }
            }
            return reports
        }
        var reports: [NodeID: Report] = [:]
        for (node, result) in results { reports[node] = try result.get() }
        return reports
    }

    /// Asks until a node that is online has these values by its own last report.
    ///
    /// A value that it had before counts. The values that the cloud keeps of an offline node do not.
    private func report(
        of node: NodeID, until end: Duration, _ values: [ParameterChange], _ isDone: @Sendable (Node) -> Bool
    ) async throws(AccountError) -> Report {
        let cloud = cloud
        var seen: String?
        // The values are on their way: a refusal of the cloud to answer does not call them back.
        let ending = try await CloudQuestion(time: time).askAgain(until: end, .nodeStatus) {
            () async throws(AccountError) in
            try await cloud.node(node)
        } take: { known in
            if known.connectivity?.isConnected == true, isDone(known) { return .done }
            seen =
                known.connectivity?.isConnected == false
                ? Self.offline : Self.others(values, in: known.parameters, NodeConfiguration(known.configuration))
            return .quiet
        }
        return switch ending {
        case .done: .held
        case .late(nil): .other(seen: seen)
        case .late(let error?), .refused(let error): .unknown(error)
        }
    }

    static func holds(_ changes: [ParameterChange], in values: JSONValue?) -> Bool {
        changes.allSatisfy { change in
            values?[change.path.component]?[change.path.parameter]?.isReport(of: change.value) ?? false
        }
    }

    /// Describes the values that a node reports instead of these, such as `reports Light.Power=false`; nil if there are no others.
    static func others(
        _ changes: [ParameterChange], in values: JSONValue?, _ configuration: NodeConfiguration?
    ) -> String? {
        let shown = values.map { SecretParameters(of: configuration).masked(in: $0) }
        let others = changes.compactMap { change -> String? in
            let path = change.path
            guard let value = shown?[path.component]?[path.parameter], !holds([change], in: values) else { return nil }
            return "\(path)=\(value.shown)".onOneLine
        }
        return others.isEmpty ? nil : "reports " + others.prefix(5).joined(separator: ", ")
    }
}

extension [ParameterChange] {
    /// The changes whose values the node reports after they are set.
    package func reported(by configuration: NodeConfiguration?) -> [ParameterChange] {
        let unreported = unreported(by: configuration)
        return filter { !unreported.contains($0.path) }
    }

    /// The parameters that the node never reports: those that can only be written, and those that make it act, such as a restart.
    package func unreported(by configuration: NodeConfiguration?) -> [ParameterPath] {
        map(\.path).filter { path in
            configuration?.component(path.component)?.parameter(path.parameter)?.reportsWhatIsSet == false
        }
    }
}

extension NodeConfiguration {
    /// Returns the path that a text such as `Light.Power` means. Names of devices and parameters may have dots in them.
    ///
    /// If no such parameter exists, the result begins with the longest name of a device that exists. So the error of a check names the
    /// parameter.
    ///
    /// - Throws: `ambiguousPath` for a text that means two parameters.
    public func path(_ text: String) throws(ParameterError) -> ParameterPath {
        let all = text.indices.filter { text[$0] == "." }.map { dot in
            ParameterPath(component: String(text[..<dot]), parameter: String(text[text.index(after: dot)...]))
        }
        let known = all.filter { component($0.component)?.parameter($0.parameter) != nil }
        guard known.count < 2 else {
            let meanings = known.map { "\($0.parameter) of \($0.component)" }.joined(separator: ", or ")
            throw ParameterError(
                .ambiguousPath,
                message:
                    "\(text) may mean \(meanings). To name exactly one, give a JSON object: {\"DEVICE\":{\"PARAMETER\":VALUE}}."
                    .onOneLine)
        }
        return known.first ?? all.last { component($0.component) != nil } ?? all.first
            ?? ParameterPath(component: text, parameter: "")
    }
}
