// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCrypto

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
            // The type is that of a challenge's answer, whatever was asked.
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
        // `CmdGetNodeID` is in the schema and was never written.
        default: throw HandlerFailure()
        }
    }
}
