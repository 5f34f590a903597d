// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCrypto

/// `cloud_user_assoc`: stores the user's id and secret for the cloud.
struct UserMapping: Sendable {
    /// The last received command that is not reported yet.
    private(set) var pending: SetUserMappingCommand?

    mutating func respond(to request: [UInt8], nodeID: [UInt8]) throws(HandlerFailure) -> [UInt8] {
        let message: UserMappingPayload
        do { message = try UserMappingPayload(decoding: request) } catch { throw HandlerFailure() }
        guard message.message == .commandSetUserMapping else { return [] }
        guard case .commandSetUserMapping(let command)? = message.payload else {
            return UserMappingPayload(.responseSetUserMapping(SetUserMappingResponse(status: .invalidParameter)))
                .encoded()
        }
        start(userID: command.userID, secretKey: command.secretKey)
        return UserMappingPayload(.responseSetUserMapping(SetUserMappingResponse(status: .success, nodeID: nodeID)))
            .encoded()
    }

    /// `esp_rmaker_start_user_node_mapping`: the last call wins.
    mutating func start(userID: [UInt8], secretKey: [UInt8]) {
        pending = SetUserMappingCommand(userID: userID.untilNull, secretKey: secretKey.untilNull)
    }

    mutating func reported() { pending = nil }
}

/// `ch_resp`: signs the cloud's challenge with the node's key, until a client disables it.
struct ChallengeResponder<Signer: NodeCredential>: Sendable {
    let signer: Signer?
    private(set) var isDisabled = false
    private(set) var signatures = 0

    init(signer: Signer?) { self.signer = signer }

    mutating func enable() { isDisabled = false }

    mutating func respond(to request: [UInt8], nodeID: [UInt8]) throws(HandlerFailure) -> [UInt8] {
        let message: ChallengeResponsePayload
        do { message = try ChallengeResponsePayload(decoding: request) } catch { throw HandlerFailure() }
        guard !isDisabled else {
            // The type is that of a challenge's answer, whatever the request was.
            var refusal = ChallengeResponsePayload()
            refusal.message = .responseChallengeResponse
            refusal.status = .disabled
            return refusal.encoded()
        }
        switch (message.message, message.payload) {
        case (.commandChallengeResponse, .commandChallengeResponse(let command)?):
            guard let signer else { throw HandlerFailure() }
            let signature: [UInt8]
            do { signature = try signer.sign(command.payload) } catch { throw HandlerFailure() }
            signatures += 1
            let answer = ChallengeResponse(payload: signature, nodeID: nodeID)
            return ChallengeResponsePayload(.responseChallengeResponse(answer)).encoded()
        case (.commandDisableChallengeResponse, _):
            isDisabled = true
            return ChallengeResponsePayload(.responseDisableChallengeResponse).encoded()
        // `CmdGetNodeID` is in the schema, but was never implemented.
        default: throw HandlerFailure()
        }
    }
}

/// The node's private key, and the functions for getting a certificate for it. The key itself never leaves this value.
///
/// A board that cannot be claimed needs neither of the two functions: the defaults refuse.
public protocol NodeCredential: MessageSigner {
    /// Returns a request (PKCS #10, PEM) for a certificate of this key with `nodeID` as its common name.
    func certificateRequest(for nodeID: [UInt8]) throws(SignatureFailure) -> [UInt8]

    /// Whether this certificate (PEM) belongs to this key and names that node.
    func accepts(certificate: [UInt8], for nodeID: [UInt8]) -> Bool
}

extension NodeCredential {
    public func certificateRequest(for nodeID: [UInt8]) throws(SignatureFailure) -> [UInt8] { throw SignatureFailure() }
    public func accepts(certificate: [UInt8], for nodeID: [UInt8]) -> Bool { false }
}
