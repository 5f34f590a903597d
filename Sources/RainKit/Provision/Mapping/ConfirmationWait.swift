// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount

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
