// SPDX-License-Identifier: Apache-2.0
import RainAccount
import ESPProvisioning
import RainCore
import RainMaker

/// The step that ties the board to the user.
struct BoardAssociation: Sendable {
    let context: RunContext
    let account: SignedIn

    enum Means {
        /// Board and cloud are told the same secret.
        case secret
        /// The board signs the cloud's challenge.
        case signature(MappingChallenge)
    }

    /// The mapping that the cloud is to hear of now.
    func associate(_ board: IdentifiedBoard, by means: Means) async throws(StepFailure) -> MappingConversation {
        let conversation =
            switch means {
            case .secret: try await shareSecret(board)
            case .signature(let challenge): try await sign(challenge, board)
            }
        context.status.update { $0.mapping = conversation }
        do throws(StepFailure) {
            // Where another run has this node in hand, the board has just been told ours: that run's mapping is none any more.
            try await conversation.keep()
        } catch {
            await conversation.end()
            throw error
        }
        return conversation
    }

    private func shareSecret(_ board: IdentifiedBoard) async throws(StepFailure) -> MappingConversation {
        if let again = try await associateAgain(board) { return again }
        let secret = MappingSecret(randomBytes: context.randomBytes(16))
        return conversation(about: try await tell(board, secret), .secret(secret, request: nil))
    }

    private func sign(
        _ challenge: MappingChallenge, _ board: IdentifiedBoard
    ) async throws(StepFailure) -> MappingConversation {
        let reply = try await context.ask { (board) throws(ProvisioningError) in
            try await board.associate(.challenge(challenge.challenge))
        }
        try check(reply.nodeID, board)
        return conversation(about: reply.nodeID, .signature(reply.signature, request: challenge.request))
    }

    /// Tells a board that an earlier run may have left the same secret again: it may be on its way to its network with that one, and the
    /// cloud may have been told.
    ///
    /// - Returns: nil where there is none, or where the board is another, which is to have a secret of its own.
    private func associateAgain(_ board: IdentifiedBoard) async throws(StepFailure) -> MappingConversation? {
        guard var left = board.leftOver, case .secret(let secret, let request) = left.mapping.proof,
            try await tell(board, secret) == left.mapping.node
        else { return nil }
        // What the cloud has been told went with the notes of that run.
        if request == nil { left.mapping.notes = context.request.notes }
        return context.conversation(about: left.mapping, hold: left.hold, with: account.cloud)
    }

    private func tell(_ board: IdentifiedBoard, _ secret: MappingSecret) async throws(StepFailure) -> NodeID {
        let user = account.user
        let reply = try await context.ask { (board) throws(ProvisioningError) in
            try await board.associate(.userMapping(user, secret))
        }
        try check(reply.nodeID, board)
        return reply.nodeID
    }

    private func conversation(about node: NodeID, _ proof: PendingMapping.Proof) -> MappingConversation {
        let mapping = PendingMapping(
            node: node, user: account.user, proof: proof, stage: .associated, peer: context.board.peer,
            label: context.request.label, notes: context.request.notes, since: context.clock.now)
        return context.conversation(about: mapping, with: account.cloud)
    }

    /// A board that was claimed has to answer by its new name; under its old one the cloud would wait for it in vain.
    private func check(_ node: NodeID, _ board: IdentifiedBoard) throws(StepFailure) {
        guard let claimedNode = board.claimedNode, claimedNode != node else { return }
        throw StepFailure(
            ProvisioningError(
                .claimFailed,
                message: "The board was claimed as \(claimedNode) and still calls itself \(node): restart it, then run "
                    + "this again."))
    }
}
