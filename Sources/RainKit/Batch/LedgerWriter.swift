// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainIO
import Synchronization

/// Writes what happens to many boards into one ledger.
///
/// What boards have to write while a commit is under way is written with the next one. So a commit, which waits for the disk, serves all
/// boards at once. A ledger that is out of reach for a moment is tried again; the boards wait meanwhile.
final class LedgerWriter: Sendable {
    private struct Entry {
        var changes: [LedgerChange]
        var done: CheckedContinuation<Result<[LedgerChange.Outcome], LedgerError>, Never>
    }

    private struct State {
        var waiting: [Entry] = []
        var isWriting = false
        var givesUp = false
    }

    /// One commit begins no further entry after this many changes.
    static let largestRound = 1000

    private let ledger: any Ledger
    private let time: Timekeeper
    private let patience: Duration
    private let trouble: @Sendable (LedgerError) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - patience: how long a ledger that is out of reach is tried again.
    ///   - trouble: called when the ledger is out of reach, once for each round.
    init(
        _ ledger: any Ledger, time: Timekeeper, patience: Duration,
        trouble: @escaping @Sendable (LedgerError) -> Void = { _ in }
    ) {
        self.ledger = ledger
        self.time = time
        self.patience = patience
        self.trouble = trouble
    }

    /// Returns once the changes are in the ledger, or refused. Does so also if its task is cancelled: what happened to a board is recorded
    /// in any case.
    ///
    /// - Returns: the outcome of each change.
    func write(_ changes: [LedgerChange]) async throws(LedgerError) -> [LedgerChange.Outcome] {
        let outcomes = await withCheckedContinuation { done in
            let begins = state.withLock { state in
                state.waiting.append(Entry(changes: changes, done: done))
                defer { state.isWriting = true }
                return !state.isWriting
            }
            // Not a child of the caller's task, which may be cancelled.
            if begins { Task { await writeAll() } }
        }
        return try outcomes.get()
    }

    /// Makes writes that are tried again fail at once: nobody waits for the ledger any longer.
    func giveUp() { state.withLock { $0.givesUp = true } }

    private func writeAll() async {
        while let round = nextRound() {
            let result = await commit(round.flatMap(\.changes))
            var index = 0
            for entry in round {
                let own = index..<index + entry.changes.count
                index = own.upperBound
                switch result {
                case .success(let outcomes) where own.upperBound <= outcomes.count:
                    entry.done.resume(returning: .success(Array(outcomes[own])))
                case .success:
                    let error = LedgerError(
                        .damaged, "The ledger \(ledger.place) did not report the outcome of a change.")
                    entry.done.resume(returning: .failure(error))
                case .failure(let error): entry.done.resume(returning: .failure(error))
                }
            }
        }
    }

    private func nextRound() -> [Entry]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isWriting = false
                return nil
            }
            var count = 0
            let round = Array(
                state.waiting.prefix { entry in
                    defer { count += entry.changes.count }
                    return count < Self.largestRound
                })
            state.waiting.removeFirst(round.count)
            return round
        }
    }

    private func commit(_ round: [LedgerChange]) async -> Result<[LedgerChange.Outcome], LedgerError> {
        let began = time.elapsed()
        var schedule = PollSchedule.unreachable
        var isFirst = true
        while true {
            do throws(LedgerError) {
                return .success(try await ledger.record(round))
            } catch {
                let isOver = time.elapsed() - began >= patience || state.withLock { $0.givesUp }
                guard error.isTransient, !isOver else { return .failure(error) }
                if isFirst { trouble(error) }
                isFirst = false
            }
            try? await time.sleep(schedule.next())
        }
    }
}

extension LedgerError {
    /// Whether the same call may succeed later. A server that restarts is absent for a moment.
    var isTransient: Bool { code == .temporary || code == .unavailable }
}

extension RainKitError {
    /// The error of a batch whose ledger cannot be used.
    public init(_ error: LedgerError) {
        let (code, reason): (Code, String) =
            switch error.code {
            case .unavailable: (.unavailable, reason: "no_ledger")
            case .temporary: (.temporary, reason: "ledger_unreachable")
            case .cannotWrite: (.cannotWrite, reason: "ledger_not_writable")
            case .auth: (.auth, reason: "ledger_refused")
            case .newer: (.config, reason: "newer_ledger")
            case .damaged: (.badData, reason: "damaged_ledger")
            case .cancelled: (.cancelled, reason: "cancelled")
            }
        self.init(
            error.code == .cancelled ? .cancelled : .request(code, reason: reason), message: error.message,
            remedies: error.isMissing ? [.begunLedger] : [])
    }
}
