// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommCore
import RainCore

extension ProtocommBoard {
    /// The firmware's own limits: it builds the mapping message in a 200-byte buffer (esp-rainmaker, user mapping).
    static var maximumMappingBytes: Int { 150 }

    public func associate(_ request: AssociationRequest) async throws(ProvisioningError) -> AssociationReply {
        do {
            switch request {
            case .userMapping(let user, let secret): return try await setUserMapping(user, secret)
            case .challenge(let challenge): return try await sign(challenge)
            }
        } catch {
            // Not one that the transport cannot carry the message to.
            guard error.code == .unsupported, error.remedies.isEmpty else { throw error }
            throw ProvisioningError(
                .notRainMaker,
                message:
                    "The board has no RainMaker endpoint, so it cannot be put into an account. Its Wi-Fi alone can be set up.",
                cause: error.cause, remedies: [.withoutMapping])
        }
    }

    private func setUserMapping(
        _ user: UserID, _ secret: MappingSecret
    ) async throws(ProvisioningError) -> AssociationReply {
        guard user.rawValue.utf8.count + secret.secret.count <= Self.maximumMappingBytes else {
            throw ProvisioningError(.invalidArgument, message: "The user id is too long for a board to keep.")
        }
        let nodeID = try await tell(user, secret)
        toldUser = (user, secret)
        return AssociationReply(nodeID: nodeID)
    }

    /// Tells a board whose it is once more where it was told in another session: it keeps that in memory only, and a restart is one of the
    /// things that end a session.
    ///
    /// - Returns: whether it was told.
    @discardableResult
    func tellUserAgain() async throws(ProvisioningError) -> Bool {
        guard let (user, secret) = toldUser, toldInSession != sessions else { return false }
        logger.debug("the session is another; telling the board its user again", metadata: ["peer": "\(peer)"])
        _ = try await tell(user, secret)
        return true
    }

    private func tell(_ user: UserID, _ secret: MappingSecret) async throws(ProvisioningError) -> NodeID {
        let command = SetUserMappingCommand(userID: Array(user.rawValue.utf8), secretKey: secret.secret.revealBytes())
        let answer = try await ask(UserMappingPayload(.commandSetUserMapping(command)), on: .userMapping)
        guard case .responseSetUserMapping(let response)? = answer.payload else {
            throw .unexpectedAnswer(on: .userMapping)
        }
        guard response.status == .success else { throw .rejected("the user mapping", status: response.status.rawValue) }
        // The answer came in the session of now.
        toldInSession = sessions
        return try nodeID(response.nodeID)
    }

    private func sign(_ challenge: [UInt8]) async throws(ProvisioningError) -> AssociationReply {
        let command = ChallengeCommand(payload: challenge)
        let answer = try await ask(
            ChallengeResponsePayload(.commandChallengeResponse(command)), on: .challengeResponse)
        if answer.status == .disabled {
            throw ProvisioningError(
                .rejected,
                message: identity?.isOnNetwork == true
                    ? "The board has challenge and response switched off, as after it was put into an account. Restart it if it is to be "
                        + "put into another one."
                    : "The board has challenge and response switched off. Reset it to factory settings.",
                reason: "challenge_disabled")
        }
        guard answer.status == .success else { throw .rejected("the challenge", status: answer.status.rawValue) }
        guard case .responseChallengeResponse(let response)? = answer.payload, !response.payload.isEmpty else {
            throw .unexpectedAnswer(on: .challengeResponse)
        }
        return AssociationReply(nodeID: try nodeID(response.nodeID), signature: response.payload)
    }

    /// Tells a board on its network to take no challenge any more, as Espressif's own client does.
    public func endAssociation() async throws(ProvisioningError) {
        guard identity?.isOnNetwork == true else { return }
        let answer = try await ask(ChallengeResponsePayload(.commandDisableChallengeResponse), on: .challengeResponse)
        // One that is disabled already says so.
        guard answer.status == .success || answer.status == .disabled else {
            throw .rejected("the end of its association", status: answer.status.rawValue)
        }
    }

    /// Node ids are opaque text; anything that is not printable ASCII is not one.
    private func nodeID(_ bytes: [UInt8]) throws(ProvisioningError) -> NodeID {
        guard (1...64).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ProvisioningError(.malformed, message: "The board did not say a node id. Has it been claimed?")
        }
        return NodeID(String(decoding: bytes, as: UTF8.self))
    }
}
