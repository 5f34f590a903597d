// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainIO
import RainMaker

/// Brings the board onto its network. Where it is put into an account, the cloud hears of it meanwhile.
struct WiFiSetup: Sendable {
    let context: RunContext
    /// Nil where no board is put into an account.
    let mapping: MappingConversation?

    /// Lets the caller choose from what the board hears.
    static func choose(
        _ choose: @Sendable ([AccessPoint]) async -> WiFiNetwork?, _ context: RunContext
    ) async throws(StepFailure) -> WiFiNetwork {
        let heard = try await context.ask { (board) throws(ProvisioningError) in try await board.scan() }
        context.tell(.heard(heard))
        guard let network = await choose(heard) else { throw .cancelled }
        return network
    }

    func handOver(_ network: WiFiNetwork) async throws(StepFailure) -> HandOver {
        // However the run ends while the board applies them, it may be on its way to its network: the next run needs what the cloud
        // has not heard yet.
        let before = mapping?.progress.pending?.stage
        try await mapping?.keep { $0.stage = .applied }
        let began = context.time.elapsed()
        do throws(ProvisioningError) {
            try await join(network)
            return .accepted(since: began)
        } catch {
            switch error.code {
            case .cancelled: break
            case .mayBeJoining:
                // The cloud can tell what became of it, if it is to know the board at all.
                guard mapping != nil else { break }
                return .mayBeJoining(lost(error, toldToJoin: began))
            default: if let before { try await mapping?.keep { $0.stage = before } }
            }
            throw StepFailure(error)
        }
    }

    /// Follows the board onto its network while the cloud hears the user's half of the mapping.
    func connect(_ handOver: HandOver, to network: WiFiNetwork) async throws(StepFailure) -> Connection {
        let isOffline = await context.board.isOffline
        async let announced: Void? = mapping?.announce(isOffline: isOffline)
        let connection = try await follow(handOver, to: network)
        await announced
        return connection
    }

    private func join(_ network: WiFiNetwork) async throws(ProvisioningError) {
        let context = context
        try await context.board.join(network) { progress in
            // Where time is over meanwhile, this is why.
            if progress == .occupied { context.status.update { $0.trouble = .occupied } }
            context.tell(.wifi(progress))
        }
        context.status.update { $0.trouble = nil }
    }

    private func follow(_ handOver: HandOver, to network: WiFiNetwork) async throws(StepFailure) -> Connection {
        var (handOver, network) = (handOver, network)
        while case .accepted(let since) = handOver {
            switch await watch() {
            case .success(let joined)?:
                context.tell(.connected(joined))
                try await mapping?.keep { $0.stage = .online }
                return .connected(joined)
            case .failure(let error)? where error.isWiFiVerdict:
                (handOver, network) = try await tryAnother(after: await explained(error, network))
            case .failure(let error)? where error.code == .deviceLost && mapping != nil:
                context.status.emit(.deferred(LostBoard.sentence))
                return .lost(lost(error, toldToJoin: since))
            case .failure(let error)?: throw StepFailure(error)
            // A console whose log is off says nothing of the board's Wi-Fi, and the cloud has heard from the board.
            case nil: return .confirmedByCloud
            }
        }
        guard case .mayBeJoining(let lost) = handOver else { return .confirmedByCloud }
        context.status.emit(.deferred(LostBoard.sentence))
        return .lost(lost)
    }

    /// Nil where the cloud has confirmed the mapping and the board says nothing.
    private func watch() async -> Result<JoinedNetwork, ProvisioningError>? {
        let (context, mapping) = (context, mapping)
        return await race(against: { try await Self.waitForCloud(mapping, context) }) {
            () async throws(ProvisioningError) in
            try await context.board.watch { context.tell(.wifi($0)) }
        }
    }

    /// Other credentials in the same session, where the caller has some.
    private func tryAnother(after verdict: ProvisioningError) async throws(StepFailure) -> (HandOver, WiFiNetwork) {
        try await mapping?.keep { $0.stage = .associated }
        let other = await context.request.otherNetwork?(verdict)
        do throws(ProvisioningError) {
            // Also without another network: the board is then ready for the next run.
            try await context.board.reset()
        } catch {
            context.logger.debug("board did not reset after a Wi-Fi failure", metadata: ["cause": "\(error.code)"])
            if other != nil { throw StepFailure(error) }
        }
        if Task.isCancelled { throw .cancelled }
        guard let other else { throw StepFailure(verdict) }
        context.status.emit(.failed(context.status.error(StepFailure(verdict))))
        context.status.update { $0.attempt += 1 }
        return (try await handOverAnew(other), other)
    }

    /// The verdict with its cause, if the board hears how the network is protected.
    private func explained(_ verdict: ProvisioningError, _ network: WiFiNetwork) async -> ProvisioningError {
        let context = context
        let heard = await withDeadline(Patience.explanation, sleep: { try await context.time.sleep($0) }) {
            () async throws(ProvisioningError) in try await context.board.scan()
        }
        guard case .success(let points)? = heard else { return verdict }
        return verdict.explained(by: points, joining: network)
    }

    /// The two steps begin again, each told as it was the first time.
    private func handOverAnew(_ network: WiFiNetwork) async throws(StepFailure) -> HandOver {
        context.status.begin(.join)
        let handOver = try await handOver(network)
        if case .mayBeJoining = handOver { context.status.emit(.deferred(LostBoard.sentence)) }
        context.status.finish()
        context.status.begin(.connect)
        return handOver
    }

    /// Also told by the run's status: where its time is over meanwhile, this is why.
    private func lost(_ error: ProvisioningError, toldToJoin: Duration) -> LostBoard {
        context.status.update { $0.trouble = StepFailure(error) }
        return LostBoard(error: error, since: context.time.elapsed(), toldToJoin: toldToJoin)
    }
}

extension ProvisioningError {
    /// The board's own word on its Wi-Fi.
    fileprivate var isWiFiVerdict: Bool {
        [.wifiAuthenticationFailed, .wifiNetworkNotFound, .wifiFailed].contains(code)
    }
}
