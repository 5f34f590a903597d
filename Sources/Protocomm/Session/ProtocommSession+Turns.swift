// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

extension ProtocommSession {
    func takeTurn(_ endpoint: Endpoint) async throws(ProtocommError) -> SessionLink {
        guard !Task.isCancelled else { throw cancelled(endpoint) }
        let ticket: Int
        switch turn.enter() {
        case .granted(let link): return link
        case .ended: throw ended(endpoint)
        case .wait(let number): ticket = number
        }
        let link = await withTaskCancellationHandler {
            await withCheckedContinuation { continuations[ticket] = $0 }
        } onCancel: {
            // Nobody awaits this task: it only removes a ticket, and does nothing when the ticket has had its turn.
            Task { await self.abandon(ticket) }
        }
        guard let link else { throw turn.isEnded ? ended(endpoint) : cancelled(endpoint) }
        guard !Task.isCancelled else {
            passTurn(link)
            throw cancelled(endpoint)
        }
        return link
    }

    func passTurn(_ link: SessionLink) {
        guard let ticket = turn.leave(link) else { return }
        continuations.removeValue(forKey: ticket)?.resume(returning: link)
    }

    func abandon(_ ticket: Int) {
        guard turn.abandon(ticket) else { return }
        continuations.removeValue(forKey: ticket)?.resume(returning: nil)
    }
}
