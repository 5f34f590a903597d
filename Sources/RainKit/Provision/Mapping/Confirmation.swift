// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
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
