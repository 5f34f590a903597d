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
        /// Board and cloud get the same secret.
        case secret
        /// The board signs the cloud's challenge.
        case signature(MappingChallenge)
    }

    /// Returns the mapping that is now to be sent to the cloud.
    func associate(_ board: IdentifiedBoard, by means: Means) async throws(RainKitError) -> MappingConversation {
        let conversation =
            switch means {
            case .secret: try await shareSecret(board)
            case .signature(let challenge): try await sign(challenge, board)
            }
        context.status.update { $0.mapping = conversation }
        do throws(RainKitError) {
            // If another run is mapping this node, our secret has just replaced its secret on the board, so that mapping can no longer
            // succeed.
            try await conversation.keep()
        } catch {
            await conversation.end()
            throw error
        }
        return conversation
    }

    private func shareSecret(_ board: IdentifiedBoard) async throws(RainKitError) -> MappingConversation {
        if let again = try await associateAgain(board) { return again }
        let secret = MappingSecret(randomBytes: context.randomBytes(16))
        return conversation(about: try await tell(board, secret), .secret(secret, request: nil))
    }

    private func sign(
        _ challenge: MappingChallenge, _ board: IdentifiedBoard
    ) async throws(RainKitError) -> MappingConversation {
        let reply = try await context.ask { (board) throws(ProvisioningError) in
            try await board.associate(.challenge(challenge.challenge))
        }
        try check(reply.nodeID, board)
        return conversation(about: reply.nodeID, .signature(reply.signature, request: challenge.request))
    }

    /// Sends the secret of an earlier run again to a board that may have it already. The board may be joining its network with that secret,
    /// and the cloud may have it.
    ///
    /// - Returns: nil if there is no such secret, or if the board is another one, which needs its own secret.
    private func associateAgain(_ board: IdentifiedBoard) async throws(RainKitError) -> MappingConversation? {
        guard var left = board.leftOver, case .secret(let secret, let request) = left.mapping.proof,
            try await tell(board, secret) == left.mapping.node
        else { return nil }
        // If the cloud has the secret, it also has the notes of that run.
        if request == nil { left.mapping.notes = context.request.notes }
        return context.conversation(about: left.mapping, hold: left.hold, with: account.cloud)
    }

    private func tell(_ board: IdentifiedBoard, _ secret: MappingSecret) async throws(RainKitError) -> NodeID {
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

    /// Checks that a claimed board answers with its new name. Under its old name the cloud would never hear from it.
    private func check(_ node: NodeID, _ board: IdentifiedBoard) throws(RainKitError) {
        guard let claimedNode = board.claimedNode, claimedNode != node else { return }
        throw RainKitError(
            ProvisioningError(
                .claimFailed,
                message:
                    "The board was claimed as \(claimedNode) and still calls itself \(node). Restart it, then run this again."
            ))
    }
}
