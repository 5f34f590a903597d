// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainIO
import RainMaker
import Synchronization

/// The last step: waits until the cloud confirms that the board is the user's, and reports it.
struct Confirmation: Sendable {
    let context: RunContext
    let board: any Board
    let mapping: MappingConversation
    /// The cloud's name in messages.
    let cloudName: String

    /// Sends the board's signature to the cloud. If the cloud cannot be reached now, ``confirm(_:)`` sends it later.
    func verify() async throws(RainKitError) {
        guard await !board.isOffline else { return context.status.emit(.deferred(Self.offline)) }
        do throws(AccountError) {
            try await mapping.tell()
        } catch {
            guard error.isTransient else { throw try await mapping.failure(error) }
            context.status.emit(.deferred(error.message))
        }
    }

    /// Why a step that needs the cloud is done later.
    private static let offline = "this machine is on the board's network"

    /// - Parameters:
    ///   - connection: nil if the board's Wi-Fi was not changed.
    ///   - joining: when the board got its network, by the run's own clock.
    func confirm(
        _ found: IdentifiedBoard, _ connection: Connection?, joining: Duration
    ) async throws(RainKitError) {
        guard connection?.network != nil, mapping.progress.isBySecret else {
            try await waitForMapping(ConfirmationWait(lostBoard: connection?.lostBoard))
            if let lost = connection?.lostBoard, !mapping.provesNetwork { return try await waitForPresence(lost) }
            guard connection?.network != nil, let limit = mapping.cloud.presenceLimit else { return }
            return try await waitForPresence(since: joining, within: limit)
        }
        let stray = SilentNodeExplanation(board: found, cloud: cloudName)
        context.status.update { $0.holdUp = stray.holdUp }
        let verdict = Mutex<RainKitError?>(nil)
        let wait = ConfirmationWait(onlineSince: context.time.elapsed(), notReported: stray.notReported)
        let result = await race(against: {
            let failure = try await boardsWord(stray)
            verdict.withLock { $0 = failure }
        }) { () async throws(RainKitError) in try await waitForMapping(wait) }
        if let result { return try result.get() }
        // The board's report is final: no later run can finish the mapping.
        try await mapping.settle(confirmed: false)
        throw verdict.withLock { $0 } ?? stray.notReported
    }

    /// Returns an error once the board reports that it will not come to this cloud. Throws if it reports nothing of the kind.
    private func boardsWord(_ stray: SilentNodeExplanation) async throws -> RainKitError {
        switch try await board.cloudContact() {
        case .unclaimed?: return .unclaimed
        case .connecting(let host)?:
            guard let expected = try await mapping.cloud.brokerHost(), !SilentNodeExplanation.isSame(host, expected)
            else { break }
            return stray.elsewhere(host, not: expected)
        case nil: break
        }
        throw CancellationError()
    }

    private func waitForMapping(_ wait: ConfirmationWait) async throws(RainKitError) {
        var wait = wait
        while !mapping.progress.isConfirmed {
            let answer: MappingConversation.Answer
            do throws(AccountError) {
                answer = try await mapping.ask()
            } catch {
                try await retry(after: error, &wait)
                continue
            }
            wait.reached(at: context.time.elapsed())
            if case .unknown(let word) = answer { wait.unknownState = word } else { wait.unknownState = nil }
            note(wait)
            switch answer {
            case .confirmed: return
            case .notYet, .unknown:
                let lastNews = mapping.progress.lastNews
                try await context.pause(try wait.notYet(at: context.time.elapsed(), lastNews: lastNews))
            case .ended(let status):
                try await mapping.settle(confirmed: false)
                throw RainKitError(.mappingRefused(status), message: status.endedMessage)
            }
        }
    }

    /// Waits until the cloud sees a lost board on its network. A confirmed signature does not show it, since the cloud takes a signature
    /// before the board has any Wi-Fi.
    private func waitForPresence(_ board: UnansweringBoard) async throws(RainKitError) {
        var board = board
        board.error = board.inAccount
        var presence = NodePresence(toldToJoin: board.toldToJoin)
        var wait = ConfirmationWait(lostBoard: board, asking: .nodeStatus)
        note(wait)
        context.tell(.waitingForNode)
        while true {
            let said: Node.Connectivity?
            do throws(AccountError) {
                said = try await mapping.connectivity()
            } catch {
                try await context.pause(try rest(after: error, board, &wait))
                continue
            }
            guard let said else { throw RainKitError(board.error) }
            let now = context.time.elapsed()
            if presence.isOnline(said, at: now) { return }
            wait.reached(at: now)
            try await context.pause(try wait.notYet(at: now, lastNews: mapping.progress.lastNews))
        }
    }

    /// Waits until the cloud sees a board that is on its network.
    private func waitForPresence(since joining: Duration, within limit: Duration) async throws(RainKitError) {
        let end = context.time.elapsed() + limit
        var presence = NodePresence(toldToJoin: joining)
        var asking = PollSchedule.nodeStatus
        while true {
            do throws(AccountError) {
                let said = try await mapping.connectivity()
                guard let said, !presence.isOnline(said, at: context.time.elapsed()) else { return }
            } catch {
                if error.code == .cancelled { throw .cancelled }
                guard error.isTransient else { throw RainKitError(error) }
            }
            guard context.time.elapsed() < end else {
                throw RainKitError(
                    .notReported,
                    message:
                        "The board is in the account and on its network, but \(cloudName) has not seen it online within "
                        + "\(limit.formattedSeconds) s. Check that its network has internet access, and that its firmware and its "
                        + "certificate belong to this deployment.")
            }
            try await context.pause(asking.next())
        }
    }

    /// Returns the pause before the cloud is asked again. Throws the error of the board's loss if the cloud can no longer tell.
    private func rest(
        after error: AccountError, _ board: UnansweringBoard, _ wait: inout ConfirmationWait
    ) throws(RainKitError) -> Duration {
        if error.code == .cancelled { throw .cancelled }
        guard error.isTransient,
            let pause = try? wait.failed(error, at: context.time.elapsed(), quietUntil: context.quiet.until)
        else { throw RainKitError(board.error) }
        return pause
    }

    private func retry(after error: AccountError, _ wait: inout ConfirmationWait) async throws(RainKitError) {
        guard error.isTransient else { throw try await mapping.failure(error) }
        let isFirst = !wait.isOut
        let isOffline = await board.isOffline
        let pause = try wait.failed(
            error, at: context.time.elapsed(), quietUntil: context.quiet.until, isOffline: isOffline)
        note(wait)
        if isOffline { context.status.update { $0.trouble = .onBoardsNetwork } }
        if isFirst { context.tell(.waitingForCloud) }
        try await context.pause(pause)
    }

    /// Records in the run's status why it waits. It is the error of this run if its time ends meanwhile.
    private func note(_ wait: ConfirmationWait) {
        let trouble = wait.trouble
        context.status.update { $0.trouble = trouble }
    }
}

/// How long to wait for the cloud's confirmation, and how often to ask for it.
struct ConfirmationWait: Sendable {
    /// The board stopped answering. Only the cloud can still show that it joined.
    private let lostBoard: UnansweringBoard?
    /// Since when the board has been on its network by its own report, and the error if the cloud hears nothing from it.
    private var online: (since: Duration, notReported: RainKitError)?
    /// The last call did not reach the cloud.
    private var outage: (error: AccountError, since: Duration)?
    private var backSince = Duration.zero
    /// The cloud's last word for the mapping, if it is not a known state. It may mean that the mapping is confirmed.
    var unknownState: String?
    private var asking: PollSchedule
    private var retrying = PollSchedule.unreachable

    init(lostBoard: UnansweringBoard?, asking: PollSchedule = .cloudStatus) {
        self.lostBoard = lostBoard
        self.asking = asking
    }

    init(onlineSince: Duration, notReported: RainKitError) {
        self.init(lostBoard: nil)
        online = (onlineSince, notReported)
    }

    var isOut: Bool { outage != nil }

    /// The error to end with when the run's time is over.
    var trouble: RainKitError? {
        lostBoard.map { RainKitError($0.error) } ?? outage.map { RainKitError($0.error) }
            ?? unknownState.map { RainKitError(.deadline, message: "\(Self.sentence(unknown: $0)) The time is up.") }
    }

    private static func sentence(unknown state: String) -> String {
        "The cloud reports the unknown state \"\(state)\" for the mapping. If this is your own cloud, add this state under status in "
            + "the cloud's description."
    }

    /// Notes that the cloud could not be reached. Throws if it has been away for too long.
    /// - Parameters:
    ///   - quietUntil: the time until which the cloud asked for no requests.
    ///   - isOffline: whether this machine is still on the board's network. It is waited for, because a person returns it.
    /// - Returns: the time until it is asked again.
    mutating func failed(
        _ error: AccountError, at now: Duration, quietUntil: Duration, isOffline: Bool = false
    ) throws(RainKitError) -> Duration {
        if isOffline {
            outage = (error, now)
        } else if let outage {
            let patience = max(WaitLimits.cloudOutage, error.retryAfter ?? .zero)
            guard now - outage.since < patience else { throw RainKitError(error) }
        } else {
            outage = (error, now)
        }
        return max(retrying.next(), .milliseconds(50), quietUntil - now)
    }

    /// Notes that the cloud was reached.
    mutating func reached(at now: Duration) {
        if outage != nil { backSince = now }
        outage = nil
        retrying = .unreachable
    }

    /// Notes that the cloud has not heard from the board. Throws if it is not going to hear from it.
    /// - Parameter lastNews: when the cloud last received something new about the board.
    /// - Returns: the time until it is asked again.
    mutating func notYet(at now: Duration, lastNews: Duration) throws(RainKitError) -> Duration {
        if let lostBoard, now - max(lostBoard.since, lastNews, backSince) > WaitLimits.lostBoard {
            throw RainKitError(lostBoard.error)
        }
        if let online, now - max(online.since, lastNews, backSince) > WaitLimits.report {
            var failure = online.notReported
            if let unknownState { failure.message = "\(Self.sentence(unknown: unknownState)) \(failure.message)" }
            throw failure
        }
        return asking.next()
    }
}

/// Explains why the cloud hears nothing from a board that is on its network, by what the board has reported.
struct SilentNodeExplanation: Sendable {
    let board: IdentifiedBoard
    /// The cloud's name.
    let cloud: String

    /// Nothing has come for ``WaitLimits/report``, and the cloud answers.
    var notReported: RainKitError {
        guard board.identity.needsClaim != nil || board.claimedNode != nil else {
            return .neverClaimed(board.identity.nodeID)
        }
        return RainKitError(
            .notReported,
            message:
                "The board is on its network, but \(cloud) has received nothing from it within \(WaitLimits.report.formattedSeconds) s. If "
                + "that network has internet access, the board's firmware or its claim probably belongs to a deployment other than "
                + "\(cloud)\(word). Use the profile of the deployment that the board was made for, or flash firmware for \(cloud) and "
                + "claim the board there.")
    }

    /// What keeps the board from the cloud, if it is known before ``notReported``; nil if there are several possible causes.
    var holdUp: String? {
        guard board.identity.needsClaim == nil, board.claimedNode == nil else { return nil }
        return
            "The board was most likely never claimed: \(board.identity.nodeID.map { "its node id, \($0), is its MAC address" } ?? "it has no node id"), "
            + "and it has not reported to the cloud. If it was claimed, check that its network has internet access."
    }

    /// The board itself has reported where it connects to.
    func elsewhere(_ host: String, not expected: String) -> RainKitError {
        RainKitError(
            .notReported,
            message:
                "The board is on its network and connects to \(presentable(host)), but the nodes of \(cloud) connect to "
                + "\(presentable(expected)). Its firmware or its claim belongs to a deployment other than \(cloud). Use the profile of "
                + "the deployment that the board was made for, or flash firmware for \(cloud) and claim the board there."
        )
    }

    /// What the board reports about itself, in parentheses.
    private var word: String {
        var words = board.identity.rainMakerVersion.map { ["rmaker \($0)"] } ?? []
        words += board.identity.capabilities.filter { $0.hasPrefix("rmaker") }.prefix(4)
        if let node = board.claimedNode { words.append("claimed just now as \(node)") }
        return words.isEmpty ? "" : " (the board says: \(presentable(words.joined(separator: ", "))))"
    }

    /// Returns whether both name one broker. A name without a port matches any port. Names also match if one of them lacks a single
    /// character. Cables lose and double bytes, and a board that talks to its cloud must not be reported as lost for that.
    static func isSame(_ one: String, _ other: String) -> Bool {
        if lacksOne(one.lowercased(), other.lowercased()) || lacksOne(other.lowercased(), one.lowercased()) {
            return true
        }
        let (one, other) = (split(one), split(other))
        return one.host == other.host && (one.port == nil || other.port == nil || one.port == other.port)
    }

    /// Returns whether one text is the other without one of its characters.
    private static func lacksOne(_ short: String, _ long: String) -> Bool {
        guard short.utf8.count + 1 == long.utf8.count else { return false }
        let common = zip(short.utf8, long.utf8).prefix { $0 == $1 }.count
        return short.utf8.dropFirst(common).elementsEqual(long.utf8.dropFirst(common + 1))
    }

    private static func split(_ text: String) -> (host: String, port: String?) {
        let text = text.lowercased()
        // An IPv6 address without brackets has no port.
        guard let colon = text.lastIndex(of: ":"),
            text[colon...].utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }),
            text.hasPrefix("[") || text.firstIndex(of: ":") == colon
        else { return (text, nil) }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }
}

extension RainKitError {
    /// The time is over, and the cloud cannot be reached from the board's own network.
    fileprivate static var onBoardsNetwork: RainKitError {
        RainKitError(
            .deadline,
            message:
                "The board has its Wi-Fi settings. This machine is still on the board's own network, so it could not ask the cloud about "
                + "the board. Return to your own network.")
    }

    /// The board's log has reported that the board was not claimed.
    static var unclaimed: RainKitError {
        RainKitError(
            BoardError(
                .claimFailed,
                message:
                    "The board is on its network without a cloud certificate, so it does not connect to the cloud: it was never claimed. "
                    + "Type `reset-to-factory` on its console. Then set the board up over Bluetooth or its own access point. This also "
                    + "claims the board.",
                reason: "unclaimed", remedies: [.otherTransport, .claimOverCable]))
    }

    /// Nothing has come from a board, and its console does not show whether it was claimed.
    static func neverClaimed(_ node: NodeID?) -> RainKitError {
        RainKitError(
            BoardError(
                .claimFailed,
                message:
                    "The board is on its network and has not reported to the cloud within \(WaitLimits.report.formattedSeconds) s. "
                    + "\(node.map { "Its node id, \($0), is its MAC address" } ?? "It has no node id"), so it was probably never "
                    + "claimed. Type `reset-to-factory` on its console. Then set the board up over Bluetooth or its own access point. This "
                    + "also claims the board. If the board was claimed, check that its network has internet access, and that the claim "
                    + "belongs to this deployment.",
                reason: "claim_unknown", remedies: [.otherTransport, .claimOverCable]))
    }

    /// A claim was requested over Improv.
    static var claimOverImprov: RainKitError {
        RainKitError(
            BoardError(
                .unsupported,
                message:
                    "The board speaks Improv, over which it cannot be claimed. If its firmware has RainMaker, claim the board over Bluetooth "
                    + "or its own access point.", remedies: [.otherTransport, .claimOverCable]))
    }

    /// A claim was requested, and the board's firmware has no RainMaker.
    static var nothingToClaim: RainKitError {
        RainKitError(
            BoardError(
                .notRainMaker,
                message:
                    "The board has no RainMaker endpoint, so it cannot be claimed. Flash firmware with RainMaker."))
    }

    /// A claim was requested over a console that neither shows whether the board was claimed nor can claim it.
    static func claimUnknown(_ node: NodeID?) -> RainKitError {
        RainKitError(
            BoardError(
                .claimFailed,
                message:
                    "The board's console does not show whether the board has been claimed, and cannot claim it. "
                    + "\(node.map { "Its node id, \($0), is its MAC address" } ?? "It has no node id"), so it was probably never "
                    + "claimed. Claim the board over Bluetooth or its own access point.", reason: "claim_unknown",
                remedies: [.otherTransport, .claimOverCable]))
    }
}
