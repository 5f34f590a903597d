// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
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

extension WiFiSetup {
    /// Returns some time after the cloud has confirmed the mapping, which it does for no board that is not on its network. Throws where
    /// that is not to be expected.
    static func waitForCloud(_ mapping: MappingConversation?, _ context: RunContext) async throws {
        guard let mapping, mapping.provesNetwork else { throw CancellationError() }
        while true {
            let quiet = context.quiet.until - context.time.elapsed()
            try await context.time.sleep(max(Patience.betweenCloudChecks, quiet))
            // Otherwise both would tell the cloud.
            guard mapping.progress.hasAnnounced, await !context.board.isOffline else { continue }
            do throws(AccountError) {
                switch try await mapping.ask() {
                case .confirmed: break
                case .notYet, .unknown: continue
                // For the last step to say.
                case .ended: throw AccountError(.cancelled, message: "the cloud has given the mapping up")
                }
            } catch {
                guard error.isTransient else { throw error }
                continue
            }
            return try await context.time.sleep(Patience.boardAfterCloud)
        }
    }
}

/// A board that stopped answering after it may have taken its Wi-Fi, which may mean that all is well.
struct LostBoard: Sendable {
    var error: ProvisioningError
    var since: Duration
    /// When it was told to join, on the same clock.
    var toldToJoin: Duration = .zero

    /// Told of the steps that it leaves open.
    static let sentence = "the board stopped answering; the cloud is asked what became of it"

    /// The error to end with where the board is in the account by its signature alone.
    var inAccount: ProvisioningError {
        ProvisioningError(
            error.code,
            message:
                "The board is in your account; whether it is on the network is not known. It stopped answering after it was given its "
                + "Wi-Fi settings, and the cloud has not seen it since. Check its power and the Wi-Fi password; unless it shows up as "
                + "connected among your nodes soon, run this again.", cause: error.cause ?? error.message)
    }
}

/// What became of the Wi-Fi credentials that the board was handed.
enum HandOver: Sendable {
    /// - Parameter since: when it was told to join.
    case accepted(since: Duration)
    /// Nobody can say whether it took them.
    case mayBeJoining(LostBoard)
}

/// What is known of the board's Wi-Fi when nothing more is to be learnt from the board.
enum Connection: Sendable {
    case connected(JoinedNetwork)
    /// The cloud heard from the board, which said nothing of its Wi-Fi itself.
    case confirmedByCloud
    case lost(LostBoard)

    var network: JoinedNetwork? {
        if case .connected(let network) = self { network } else { nil }
    }

    var lostBoard: LostBoard? {
        if case .lost(let board) = self { board } else { nil }
    }
}

/// Decides from what the cloud says of a node's connection whether the node has come online since it was told to join.
///
/// A cloud goes on showing a connection for minutes after the node has lost its power, so `connected` alone is no news. Only the cloud's own
/// times are compared with each other: the clock of this machine may be wrong.
struct NodePresence: Sendable {
    /// When the board was told to join, by the run's own clock. It was not on any network then: it spoke to us.
    let toldToJoin: Duration
    /// What the cloud said last.
    private var before: Node.Connectivity?

    init(toldToJoin: Duration) { self.toldToJoin = toldToJoin }

    /// - Parameter now: when the cloud said so, by the run's own clock.
    mutating func isOnline(_ said: Node.Connectivity, at now: Duration) -> Bool {
        defer { before = said }
        guard said.isConnected else { return false }
        if let since = said.since, let asOf = said.asOf {
            let toldToJoin = asOf.seconds - (now - toldToJoin) / .seconds(1)
            if since.seconds > toldToJoin { return true }
        }
        guard let before else { return false }
        guard before.isConnected else { return true }
        guard let earlier = before.since, let since = said.since else { return false }
        return since > earlier
    }
}
