// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainIO
import RainMaker
import Synchronization

/// The last step: waits until the cloud knows that the board is the user's, and says so.
struct Confirmation: Sendable {
    let context: RunContext
    let mapping: MappingConversation
    /// What messages call the cloud.
    let cloudName: String

    /// Hands the board's signature to the cloud. When the cloud cannot be reached now, ``confirm(_:)`` makes up for it.
    func verify() async throws(StepFailure) {
        guard await !context.board.isOffline else { return context.status.emit(.deferred(Self.offline)) }
        do throws(AccountError) {
            try await mapping.tell()
        } catch {
            guard error.isTransient else { throw try await mapping.failure(error) }
            context.status.emit(.deferred(error.message))
        }
    }

    /// Why a step that needs the cloud is made up for later.
    private static let offline = "this machine is on the board's network"

    /// - Parameter connection: nil where the board's Wi-Fi was left alone.
    func confirm(_ board: IdentifiedBoard, _ connection: Connection?) async throws(StepFailure) {
        guard connection?.network != nil, mapping.progress.isBySecret else {
            try await waitForMapping(ConfirmationWait(lostBoard: connection?.lostBoard))
            guard let lost = connection?.lostBoard, !mapping.provesNetwork else { return }
            return try await waitForPresence(lost)
        }
        let stray = StrayBoard(board: board, cloud: cloudName)
        let verdict = Mutex<StepFailure?>(nil)
        let wait = ConfirmationWait(onlineSince: context.time.elapsed(), notReported: stray.notReported)
        let result = await race(against: {
            let failure = try await boardsWord(stray)
            verdict.withLock { $0 = failure }
        }) { () async throws(StepFailure) in try await waitForMapping(wait) }
        if let result { return try result.get() }
        // What the board has said is final: no later run finishes it.
        try await mapping.settle(confirmed: false)
        throw verdict.withLock { $0 } ?? stray.notReported
    }

    /// Returns once the board says that it will not come to this cloud; throws where it says nothing of the kind.
    private func boardsWord(_ stray: StrayBoard) async throws -> StepFailure {
        switch try await context.board.cloudContact() {
        case .unclaimed?: return .unclaimed
        case .connecting(let host)?:
            guard let expected = try await mapping.cloud.brokerHost(), !StrayBoard.isSame(host, expected) else { break }
            return stray.elsewhere(host, not: expected)
        case nil: break
        }
        throw CancellationError()
    }

    private func waitForMapping(_ wait: ConfirmationWait) async throws(StepFailure) {
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
                throw StepFailure(.mappingRefused(status), message: status.endedMessage)
            }
        }
    }

    /// The cloud takes a signature before the board has any Wi-Fi. A board that is lost is on its network when the cloud sees it there.
    private func waitForPresence(_ board: LostBoard) async throws(StepFailure) {
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
            guard let said else { throw StepFailure(board.error) }
            let now = context.time.elapsed()
            if presence.isOnline(said, at: now) { return }
            wait.reached(at: now)
            try await context.pause(try wait.notYet(at: now, lastNews: mapping.progress.lastNews))
        }
    }

    /// Where the cloud cannot say it any more, what is known is what the board's loss leaves.
    private func rest(
        after error: AccountError, _ board: LostBoard, _ wait: inout ConfirmationWait
    ) throws(StepFailure) -> Duration {
        if error.code == .cancelled { throw .cancelled }
        guard error.isTransient,
            let pause = try? wait.failed(error, at: context.time.elapsed(), quietUntil: context.quiet.until)
        else { throw StepFailure(board.error) }
        return pause
    }

    private func retry(after error: AccountError, _ wait: inout ConfirmationWait) async throws(StepFailure) {
        guard error.isTransient else { throw try await mapping.failure(error) }
        let isFirst = !wait.isOut
        let pause = try wait.failed(error, at: context.time.elapsed(), quietUntil: context.quiet.until)
        note(wait)
        if isFirst { context.tell(.waitingForCloud) }
        try await context.pause(pause)
    }

    /// Where time is over meanwhile, the run's status says why.
    private func note(_ wait: ConfirmationWait) {
        let trouble = wait.trouble
        context.status.update { $0.trouble = trouble }
    }
}

/// How long to wait for the cloud's confirmation, and how often to ask for it.
struct ConfirmationWait: Sendable {
    /// The board stopped answering; only the cloud can say now that all is well.
    private let lostBoard: LostBoard?
    /// The board is on its network by its own word since then; the error that follows where the cloud hears nothing of it.
    private var online: (since: Duration, notReported: StepFailure)?
    /// The last call did not reach the cloud.
    private var outage: (error: AccountError, since: Duration)?
    private var backSince = Duration.zero
    /// What the cloud last called the mapping, where that is no state that is known: it may mean that the mapping is confirmed.
    var unknownState: String?
    private var asking: PollSchedule
    private var retrying = PollSchedule.unreachable

    init(lostBoard: LostBoard?, asking: PollSchedule = .cloudStatus) {
        self.lostBoard = lostBoard
        self.asking = asking
    }

    init(onlineSince: Duration, notReported: StepFailure) {
        self.init(lostBoard: nil)
        online = (onlineSince, notReported)
    }

    var isOut: Bool { outage != nil }

    /// The error to end with where time is over.
    var trouble: StepFailure? {
        lostBoard.map { StepFailure($0.error) } ?? outage.map { StepFailure($0.error) }
            ?? unknownState.map { StepFailure(.deadline, message: "\(Self.sentence(unknown: $0)) The time is over.") }
    }

    private static func sentence(unknown state: String) -> String {
        "The cloud calls the mapping \"\(state)\", which is not a state that is known here. If this is a cloud of your own, list the word "
            + "under status in its description."
    }

    /// The cloud could not be reached. Throws where it has been away for too long.
    /// - Parameter quietUntil: until when it asked to be left alone.
    /// - Returns: the time until it is asked again.
    mutating func failed(
        _ error: AccountError, at now: Duration, quietUntil: Duration
    ) throws(StepFailure) -> Duration {
        if let outage {
            let patience = max(Patience.cloudOutage, error.retryAfter ?? .zero)
            guard now - outage.since < patience else { throw StepFailure(error) }
        } else {
            outage = (error, now)
        }
        return max(retrying.next(), .milliseconds(50), quietUntil - now)
    }

    /// The cloud was reached.
    mutating func reached(at now: Duration) {
        if outage != nil { backSince = now }
        outage = nil
        retrying = .unreachable
    }

    /// The cloud has not heard from the board. Throws where it will not any more.
    /// - Parameter lastNews: when it was told something new of the board.
    /// - Returns: the time until it is asked again.
    mutating func notYet(at now: Duration, lastNews: Duration) throws(StepFailure) -> Duration {
        if let lostBoard, now - max(lostBoard.since, lastNews, backSince) > Patience.lostBoard {
            throw StepFailure(lostBoard.error)
        }
        if let online, now - max(online.since, lastNews, backSince) > Patience.report {
            var failure = online.notReported
            if let unknownState { failure.message = "\(Self.sentence(unknown: unknownState)) \(failure.message)" }
            throw failure
        }
        return asking.next()
    }
}

/// A board that is on its network and of which the cloud hears nothing: what that means, by what the board has told.
struct StrayBoard: Sendable {
    let board: IdentifiedBoard
    /// What the cloud is called.
    let cloud: String

    /// Nothing has come for ``Patience/report``, and the cloud answers.
    var notReported: StepFailure {
        guard board.identity.needsClaim != nil || board.claimedNode != nil else {
            return .neverClaimed(board.identity.nodeID)
        }
        return StepFailure(
            .notReported,
            message:
                "The board is on its network, and nothing of it has come to \(cloud) within \(Patience.report.formattedSeconds) s. Unless that "
                + "network keeps it from the internet, the board's firmware or its claim belongs to another deployment than "
                + "\(cloud)\(word). Use the profile of the deployment that the board was made for, or give it firmware and a claim of "
                + "\(cloud).")
    }

    /// It has said itself where it connects to.
    func elsewhere(_ host: String, not expected: String) -> StepFailure {
        StepFailure(
            .notReported,
            message:
                "The board is on its network and connects to \(presentable(host)), while the nodes of \(cloud) connect to "
                + "\(presentable(expected)): its firmware or its claim belongs to another deployment than \(cloud). Use the profile of the "
                + "deployment that the board was made for, or give it firmware and a claim of \(cloud).")
    }

    /// What the board says of itself.
    private var word: String {
        var words = board.identity.rainMakerVersion.map { ["rmaker \($0)"] } ?? []
        words += board.identity.capabilities.filter { $0.hasPrefix("rmaker") }.prefix(4)
        if let node = board.claimedNode { words.append("claimed just now as \(node)") }
        return words.isEmpty ? "" : " (it says: \(presentable(words.joined(separator: ", "))))"
    }

    /// Whether both name one broker: a name without a port stands for any. One that lacks a single character is taken for the same, since
    /// cables lose and double bytes, and a board that talks to its cloud is not to be called lost for that.
    static func isSame(_ one: String, _ other: String) -> Bool {
        if lacksOne(one.lowercased(), other.lowercased()) || lacksOne(other.lowercased(), one.lowercased()) {
            return true
        }
        let (one, other) = (split(one), split(other))
        return one.host == other.host && (one.port == nil || other.port == nil || one.port == other.port)
    }

    /// Whether one text is the other without one of its characters.
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

extension StepFailure {
    /// The board's log has said so.
    static var unclaimed: StepFailure {
        StepFailure(
            ProvisioningError(
                .claimFailed,
                message:
                    "The board is on its network without a cloud certificate, so it stays away from the cloud: it was never claimed. Type "
                    + "`reset-to-factory` on its console, then set it up over Bluetooth or its own access point, which claims it on the "
                    + "way.", reason: "unclaimed", remedies: [.otherTransport]))
    }

    /// Nothing has come from a board whose console does not say whether it was claimed.
    static func neverClaimed(_ node: NodeID?) -> StepFailure {
        StepFailure(
            ProvisioningError(
                .claimFailed,
                message:
                    "The board is on its network and has not reported to the cloud within \(Patience.report.formattedSeconds) s. It calls itself "
                    + "\(node.map { "\($0)" } ?? "by no name"), its MAC address, as boards do that were never claimed. Type `reset-to-factory` on "
                    + "its console, then set it up over Bluetooth or its own access point, which claims it on the way. If it was "
                    + "claimed, check that its network has internet access, and that the claim is of this deployment.",
                reason: "claim_unknown", remedies: [.otherTransport]))
    }

    /// Asked to be claimed where nobody can tell, or do it.
    static func claimUnknown(_ node: NodeID?) -> StepFailure {
        StepFailure(
            ProvisioningError(
                .claimFailed,
                message:
                    "The board's console does not tell whether the board has been claimed, and cannot claim it. It calls itself "
                    + "\(node.map { "\($0)" } ?? "by no name"), its MAC address, as boards do before their claim. Claim it over Bluetooth or its own "
                    + "access point.", reason: "claim_unknown", remedies: [.otherTransport]))
    }
}
