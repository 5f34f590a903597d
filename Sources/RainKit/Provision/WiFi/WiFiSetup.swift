// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainIO
import RainMaker

/// Brings the board onto its network. If the board is put into an account, the user's half of the mapping is sent to the cloud meanwhile.
struct WiFiSetup: Sendable {
    let context: RunContext
    let board: any Board
    /// Nil if no board is put into an account.
    let mapping: MappingConversation?

    /// Lets the caller choose from the networks that the board hears.
    func choose(
        _ choose: @Sendable ([AccessPoint]) async -> OnboardingRequest.Choice
    ) async throws(RainKitError) -> WiFiNetwork {
        while true {
            let heard = try await context.ask(board) { (board) throws(BoardError) in try await board.scan() }
            context.tell(.heard(heard))
            switch await choose(heard) {
            case .join(let network): return network
            case .scanAgain: continue
            case .cancel: throw .cancelled
            }
        }
    }

    func handOver(_ network: WiFiNetwork) async throws(RainKitError) -> HandOver {
        // The run may end while the board applies the credentials, and the board may join anyway. The next run then needs the part of the
        // mapping that the cloud does not have yet.
        let before = mapping?.progress.pending?.stage
        try await mapping?.keep { $0.stage = .applied }
        let began = context.time.elapsed()
        context.status.update { $0.joining = network.ssid }
        do throws(BoardError) {
            try await join(network)
            return .accepted(since: began)
        } catch {
            if let node = error.provisionedNode, await isOnline() {
                context.tell(.alreadyOnline(node))
                return .alreadyOnline(node)
            }
            switch error.code {
            case .cancelled: break
            case .mayBeJoining:
                // If the board is put into an account, the cloud can show whether it has joined.
                guard mapping != nil else { break }
                return .mayBeJoining(lost(error, toldToJoin: began))
            default:
                context.status.update { $0.joining = nil }
                if let before { try await mapping?.keep { $0.stage = before } }
            }
            throw RainKitError(error)
        }
    }

    /// Follows the board onto its network, and sends the user's half of the mapping to the cloud meanwhile.
    func connect(_ handOver: HandOver, to network: WiFiNetwork) async throws(RainKitError) -> Connection {
        let isOffline = await board.isOffline
        async let announced: Void? = mapping?.announce(isOffline: isOffline)
        let connection = try await follow(handOver, to: network)
        await announced
        return connection
    }

    /// Whether the cloud sees the board online in the account.
    private func isOnline() async -> Bool {
        guard let mapping, await !board.isOffline else { return false }
        return (try? await mapping.connectivity())?.isConnected == true
    }

    private func join(_ network: WiFiNetwork) async throws(BoardError) {
        let context = context
        try await board.join(network) { progress in
            // The error of this run if its time ends during this wait.
            if progress == .occupied {
                context.status.update { $0.trouble = .occupied(hasStatus: $0.identity?.security != nil) }
            }
            context.tell(.wifi(progress))
        }
        context.status.update { $0.trouble = nil }
    }

    private func follow(_ handOver: HandOver, to network: WiFiNetwork) async throws(RainKitError) -> Connection {
        var (handOver, network) = (handOver, network)
        while case .accepted(let since) = handOver {
            switch await watch() {
            case .success(let joined)?:
                context.status.update { $0.joining = nil }
                context.tell(.connected(joined))
                try await mapping?.keep { $0.stage = .online }
                return .connected(joined)
            case .failure(let error)? where error.isWiFiVerdict:
                (handOver, network) = try await tryAnother(after: await explained(error, network))
            case .failure(let error)? where error.code == .deviceLost && mapping != nil:
                let unanswering = lost(error, toldToJoin: since)
                context.status.emit(.deferred(unanswering.sentence))
                return .lost(unanswering)
            case .failure(let error)?: throw RainKitError(error)
            // A console whose log is off reports nothing of the board's Wi-Fi, and the cloud has heard from the board.
            case nil: return .confirmedByCloud
            }
        }
        if case .alreadyOnline(let node) = handOver { return .alreadyOnline(node) }
        guard case .mayBeJoining(let lost) = handOver else { return .confirmedByCloud }
        context.status.emit(.deferred(lost.sentence))
        return .lost(lost)
    }

    /// Returns nil if the cloud has confirmed the mapping and the board has reported nothing.
    private func watch() async -> Result<JoinedNetwork, BoardError>? {
        let (context, board, mapping) = (context, board, mapping)
        return await race(against: { try await Self.waitForCloud(mapping, board, context) }) {
            () async throws(BoardError) in
            try await board.watch { context.tell(.wifi($0)) }
        }
    }

    /// Tries other credentials in the same session, if the caller has any.
    private func tryAnother(after verdict: BoardError) async throws(RainKitError) -> (HandOver, WiFiNetwork) {
        context.status.update { $0.joining = nil }
        try await mapping?.keep { $0.stage = .associated }
        let other = await context.request.otherNetwork?(verdict)
        do throws(BoardError) {
            // Resets the board even if there is no other network: the board is then ready for the next run.
            try await board.reset()
        } catch {
            context.logger.debug("board did not reset after a Wi-Fi failure", metadata: ["cause": "\(error.code)"])
            if other != nil { throw RainKitError(error) }
        }
        if Task.isCancelled { throw .cancelled }
        guard let other else { throw RainKitError(verdict) }
        context.status.emit(.failed(context.status.error(RainKitError(verdict))))
        context.status.update { $0.attempt += 1 }
        return (try await handOverAnew(other), other)
    }

    /// Returns the verdict with its cause, if the board hears how the network is protected.
    private func explained(_ verdict: BoardError, _ network: WiFiNetwork) async -> BoardError {
        let (context, board) = (context, board)
        let heard = await withDeadline(WaitLimits.explanation, sleep: { try await context.time.sleep($0) }) {
            () async throws(BoardError) in try await board.scan()
        }
        guard case .success(let points)? = heard else { return verdict }
        return verdict.explained(by: points, joining: network)
    }

    /// Runs the two steps again, with the same events as the first time.
    private func handOverAnew(_ network: WiFiNetwork) async throws(RainKitError) -> HandOver {
        context.status.begin(.join)
        let handOver = try await handOver(network)
        if case .mayBeJoining(let lost) = handOver { context.status.emit(.deferred(lost.sentence)) }
        context.status.finish()
        context.status.begin(.connect)
        return handOver
    }

    /// Also records the loss in the run's status. It is the error of this run if its time ends while the cloud is asked.
    private func lost(_ error: BoardError, toldToJoin: Duration) -> UnansweringBoard {
        context.status.update { $0.trouble = RainKitError(error) }
        return UnansweringBoard(error: error, since: context.time.elapsed(), toldToJoin: toldToJoin)
    }
}

extension BoardError {
    /// Whether the board itself reported this failure of its Wi-Fi.
    fileprivate var isWiFiVerdict: Bool {
        [.wifiAuthenticationFailed, .wifiNetworkNotFound, .wifiFailed].contains(code)
    }
}

extension WiFiSetup {
    /// Returns some time after the cloud has confirmed the mapping. Such a cloud confirms only boards that are on their network. Throws if
    /// no confirmation is to be expected.
    static func waitForCloud(_ mapping: MappingConversation?, _ board: any Board, _ context: RunContext) async throws {
        guard let mapping, mapping.provesNetwork else { throw CancellationError() }
        while true {
            let quiet = context.quiet.until - context.time.elapsed()
            try await context.time.sleep(max(WaitLimits.betweenCloudChecks, quiet))
            // Otherwise both tasks would send the mapping to the cloud.
            guard mapping.progress.hasAnnounced, await !board.isOffline else { continue }
            do throws(AccountError) {
                switch try await mapping.ask() {
                case .confirmed: break
                case .notYet, .unknown: continue
                // The last step reports it.
                case .ended: throw AccountError(.cancelled, message: "the cloud has ended the mapping")
                }
            } catch {
                guard error.isTransient else { throw error }
                continue
            }
            return try await context.time.sleep(WaitLimits.boardAfterCloud)
        }
    }
}

/// A board that stopped answering after it may have taken its Wi-Fi credentials. It may have joined its network.
struct UnansweringBoard: Sendable {
    var error: BoardError
    var since: Duration
    /// When the board got the command to join, on the same clock.
    var toldToJoin: Duration = .zero

    /// The text of the `deferred` events of the steps whose result is not known.
    var sentence: String {
        let what =
            error.reason == BoardError.portGone
            ? "the board's port was removed (check the cable)"
            : error.faultyAnswer == nil ? "the board stopped answering" : "the board does not report its Wi-Fi state"
        return "\(what); asking the cloud whether the board has joined"
    }

    /// The error to end with if the board is in the account by its signature alone.
    var inAccount: BoardError {
        let what =
            error.faultyAnswer.map { "It answered each request for its Wi-Fi state with \($0)" }
            ?? "It stopped answering after it received its Wi-Fi settings"
        return BoardError(
            error.code,
            message:
                "The board is in your account, but it is not known whether it is on the network. \(what), and the cloud has not seen it "
                + "since. Check its power and the Wi-Fi password. If it does not come online soon, try again.",
            cause: error.cause ?? error.message)
    }
}

/// What is known after the Wi-Fi credentials were sent to the board.
enum HandOver: Sendable {
    /// - Parameter since: when the board got the command to join.
    case accepted(since: Duration)
    /// It is not known whether the board took the credentials.
    case mayBeJoining(UnansweringBoard)
    /// The board did not take them, because it is on a network already. The cloud sees it online in the account.
    case alreadyOnline(NodeID)
}

/// What is known of the board's Wi-Fi when the board will report nothing more.
enum Connection: Sendable {
    case connected(JoinedNetwork)
    /// The cloud heard from the board, which itself reported nothing of its Wi-Fi.
    case confirmedByCloud
    case lost(UnansweringBoard)
    /// The board was not given its network, because it is on one already. The cloud sees it online in the account.
    case alreadyOnline(NodeID)

    var network: JoinedNetwork? {
        if case .connected(let network) = self { network } else { nil }
    }

    var lostBoard: UnansweringBoard? {
        if case .lost(let board) = self { board } else { nil }
    }
}

/// Decides from the cloud's reports of a node's connection whether the node has come online since it got the command to join.
///
/// A cloud shows a connection for minutes after the node has lost its power, so `connected` alone proves nothing. Only times of the cloud
/// are compared with each other, since the clock of this machine may be wrong.
struct NodePresence: Sendable {
    /// When the board got the command to join, by the run's own clock. The board was not on any network then, because it was talking to us.
    let toldToJoin: Duration
    /// The cloud's last report.
    private var before: Node.Connectivity?

    init(toldToJoin: Duration) { self.toldToJoin = toldToJoin }

    /// - Parameter now: when the cloud reported it, by the run's own clock.
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
