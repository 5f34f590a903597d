// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

/// Finds the board, or finds out that an earlier run has finished with it.
struct BoardIdentification: Sendable {
    enum Result {
        case found(IdentifiedBoard)
        case finishedEarlier(NodeID)
    }

    let context: RunContext
    let account: SignedIn?

    func find(_ leftOvers: LeftOversHere) async throws(StepFailure) -> Result {
        var here = leftOvers
        var schedule = PollSchedule.unreachable
        let began = context.time.elapsed()
        var hasTold = false
        while true {
            let absence: ProvisioningError
            switch await identity() {
            case .success(let identity): return .found(try check(identity, here))
            case .failure(let error) where error.isAbsence: absence = error
            case .failure(let error): throw StepFailure(error)
            }
            if let account,
                let node = try await LeftOverReview(context: context, account: account).finishedWithoutBoard(&here)
            {
                return .finishedEarlier(node)
            }
            let mayStillReport =
                (here.unconfirmed != nil || here.unseen != nil) && context.time.elapsed() - began < Patience.lostBoard
            guard context.request.waitsForBoard || mayStillReport else { throw StepFailure(absence) }
            if !hasTold { context.tell(.waitingForBoard) }
            hasTold = true
            try await context.pause(schedule.next())
        }
    }

    private func identity() async -> Swift.Result<BoardIdentity, ProvisioningError> {
        do throws(ProvisioningError) {
            return .success(try await context.board.identify())
        } catch {
            return .failure(error)
        }
    }

    private func check(_ identity: BoardIdentity, _ here: LeftOversHere) throws(StepFailure) -> IdentifiedBoard {
        context.status.update { position in
            position.boardName = identity.nodeID
            // A board has answered: what was left is not what errors speak of any longer.
            position.hasLeftOver = false
        }
        context.tell(.identified(identity))
        if let account, account.cloud.claiming == nil, identity.needsClaim == true {
            throw StepFailure(
                .claimNeeded,
                message:
                    "The board has no cloud certificate yet, and this deployment has no claim service that "
                    + "could give it one.")
        }
        if context.request.claimsOnly, identity.needsClaim == nil {
            throw .claimUnknown(identity.nodeID)
        }
        return IdentifiedBoard(identity: identity, leftOver: here.unconfirmed(for: identity.nodeID))
    }
}

extension ProvisioningError {
    /// Nothing answers at all, as opposed to a board that stopped answering, and to something else at the board's address.
    fileprivate var isAbsence: Bool {
        (code == .unavailable || code == .neverAnswered) && reason != "not_a_board"
    }
}
