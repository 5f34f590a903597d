import RainAccount
import ESPProvisioning
import RainMaker
import RainCore

/// What earlier runs left, finished at the cloud.
extension OnboardingRun {
    /// A mapping that an earlier run could not finish, held for this one.
    struct LeftOver {
        var mapping: PendingMapping
        var hold: PendingMappingHold?
    }

    /// Finishes what earlier runs left for this user. What the cloud refuses for good is given up; what it cannot be asked
    /// now stays for the next run. What other runs are at work on is theirs: a workshop has several under way.
    ///
    /// The cloud is asked once about each: the board at hand does not wait for others that never come online. One that was reached in
    /// the same way may be that very board: it is waited for where nobody answers (``isFinishedWithoutBoard()``), and told the same
    /// secret again where somebody does.
    func resumePending() async throws(OnboardingError) {
        guard let cloud, let user else { return }
        let left: [PendingMapping]
        do {
            left = try cloud.pending.all().filter { $0.user == user }
        } catch {
            throw failure(error)
        }
        let began = time.elapsed()
        // The newest first, and first of all those that may be the board at hand.
        for mapping in left.reversed().filter(isHere) + left.reversed().filter({ !isHere($0) }) {
            guard time.elapsed() - began < Patience.leftOverCalls else { return }
            guard let leftOver = try take(mapping, from: cloud.pending) else { continue }
            switch try await finish(leftOver, until: began + Patience.leftOvers) {
            case .settled: continue
            case .waiting(let rest): if awaited == nil, isHere(rest.mapping) { awaited = rest }
            case .unreachable(let rest, let error):
                if awaited == nil, isHere(rest.mapping) { awaited = rest }
                emit(.deferred(error.message))
                return
            }
        }
    }

    /// Whether it may be about the board at hand: many boards are reached through one port or address, so their labels count as well.
    private func isHere(_ mapping: PendingMapping) -> Bool {
        mapping.peer == board.peer && mapping.label == request.label
    }

    /// A mapping that nobody is at work on, as it is now; nil where there is none, or nothing that a cloud could confirm.
    private func take(
        _ mapping: PendingMapping, from store: any PendingMappingStore
    ) throws(OnboardingError) -> LeftOver? {
        do {
            guard let hold = try store.hold(node: mapping.node) else { return nil }
            // The run that had it may have ended since.
            guard let now = try store.all().first(where: { $0.node == mapping.node && $0.user == mapping.user }) else {
                return nil
            }
            guard now.stage == .associated else { return LeftOver(mapping: now, hold: hold) }
            try store.remove(node: now.node)
            return nil
        } catch {
            throw failure(error)
        }
    }

    private enum Outcome {
        /// The cloud has decided, one way or the other.
        case settled
        /// The cloud has not heard of the board yet.
        case waiting(LeftOver)
        case unreachable(LeftOver, AccountError)
    }

    /// Asks the cloud once, and until `end` where it has only just been told.
    private func finish(_ left: LeftOver, until end: Duration) async throws(OnboardingError) -> Outcome {
        (pending, hold, isConfirmed) = (left.mapping, left.hold, false)
        var rest: LeftOver { LeftOver(mapping: pending ?? left.mapping, hold: hold) }
        var isToldOf = false
        // From here on it is about the board at hand again; where the run ends here, about what is kept.
        defer {
            if pending != nil, !isToldOf { awaited = rest }
            (pending, hold, isConfirmed, confirmedNode) = (nil, nil, false, nil)
        }
        var asking = PollSchedule.cloudStatus
        while true {
            do throws(AccountError) {
                switch try await askCloud() {
                case .confirmed: try settleOrThrow()
                case .notYet: break
                case .ended(let status): throw AccountError(.rejected, message: Self.sentence(ended: status))
                }
            } catch {
                // What stands on the way decides nothing, however sure of itself it is.
                if error.isTransient || error.isFromGateway {
                    isToldOf = true
                    return .unreachable(rest, error)
                }
                guard error.isRefusal else { throw failure(error) }
                try settle(confirmed: false)
                emit(.progress(.abandoned(left.mapping.node, error.message)))
                return .settled
            }
            if isConfirmed {
                emit(.progress(.resumed(left.mapping.node)))
                // Of several that were left here the last one decides.
                if isHere(left.mapping), awaited == nil, resumedNode == nil { resumedNode = left.mapping.node }
                return .settled
            }
            // Only what the cloud has just been told is worth waiting for.
            guard pending?.proof != left.mapping.proof, time.elapsed() < end else {
                isToldOf = true
                return .waiting(rest)
            }
            try await pause(asking.next())
        }
    }

    /// Whether the board that nobody finds is gone because an earlier run did its work: asks the cloud, once, about what that run left. A
    /// cloud that cannot be reached ends nothing: the computer may be on its way to the board's own access point.
    func isFinishedWithoutBoard() async throws(OnboardingError) -> Bool {
        guard let left = awaited else { return resumedNode != nil }
        guard time.elapsed() >= quietUntil else { return false }
        awaited = nil
        switch try await finish(left, until: .zero) {
        case .settled: return resumedNode != nil
        case .waiting(let rest), .unreachable(let rest, _): awaited = rest
        }
        return false
    }
}
