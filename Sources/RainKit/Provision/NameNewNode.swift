// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainMaker

extension RainKitClient {
    /// Gives a node its name after it was put into the account, as soon as the node has reported its configuration to the cloud.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 bytes without control characters, and not only spaces.
    ///   - limit: how long to wait for the node's configuration, and then for its report of the name.
    /// - Throws: `RainKitError`, as ``rename(_:to:waiting:)`` does; `deadline` if the node has not reported in time.
    @discardableResult
    public func nameNewNode(_ id: NodeID, _ name: String, within limit: Duration) async throws -> RenameOutcome {
        try Self.checkNodeName(name)
        let time = Timekeeper(configuration.tools.timer)
        let cloud = try await RainKitError.rethrowing { () async throws(AccountError) in try self.cloud() }
        var node: Node?
        let ending = try await RainKitError.rethrowing { () async throws(AccountError) in
            try await CloudQuestion(time: time).askAgain(until: limit, .nodeStatus) { () async throws(AccountError) in
                try await cloud.node(id)
            } take: { known in
                guard NodeConfiguration(known.configuration)?.components.isEmpty == false else { return .quiet }
                node = known
                return .done
            }
        }
        if case .refused(let error) = ending { throw RainKitError(error) }
        guard let node else { throw RainKitError.unnamedInTime(id) }
        let outcome = try await rename(node, to: name, waiting: max(.zero, limit - time.elapsed()))
        if let unknown = outcome.parameters.unknown { throw RainKitError(unknown) }
        guard outcome.parameters.isReported != false else { throw RainKitError.unnamedInTime(id) }
        return outcome
    }

    /// The step `name` of a run. The board is in the account by now, so a failure does not end the run: the node has no
    /// ``OnboardedNode/name`` then.
    func name(
        _ node: OnboardedNode, _ request: OnboardingRequest, report: @Sendable (OnboardingEvent) -> Void
    ) async -> OnboardedNode {
        guard let name = request.nodeName, node.mapping == .confirmed, let id = node.nodeID else { return node }
        let time = Timekeeper(configuration.tools.timer)
        let asked = request.timeAsked?() ?? .zero
        func emit(_ state: OnboardingEvent.State) {
            report(
                OnboardingEvent(
                    step: .name, state: state, attempt: 1, elapsed: node.elapsed + time.elapsed(), nodeID: id))
        }
        var named = node
        emit(.started)
        do {
            // The node is online within seconds, or its firmware has another cloud.
            let limit = min(max(request.deadline + asked - node.elapsed, .seconds(5)), .seconds(30))
            let outcome = try await nameNewNode(id, name, within: limit)
            named.name = name
            named.nameClash = outcome.clash
            emit(.finished)
        } catch {
            var error = RainKitError(wrapping: error)
            error.step = .name
            named.nameProblem = error
            emit(.failed(error))
        }
        named.elapsed += time.elapsed()
        return named
    }
}

extension RainKitError {
    fileprivate static func unnamedInTime(_ node: NodeID) -> RainKitError {
        RainKitError(
            .deadline, step: .name,
            message: "The node \(node.rawValue.onOneLine) has not reported its new name to the cloud in time.")
    }
}
