// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

extension ProtocommSession {
    func handshakeStep<Value>(
        _ round: Int, _ body: () throws(HandshakeError) -> Value
    ) throws(ProtocommError) -> Value {
        do throws(HandshakeError) {
            return try body()
        } catch {
            switch error {
            case .proofMismatch:
                throw wrongProof("The board did not prove that it knows the same proof of possession.")
            case .versionMismatch, .malformed, .rejected, .unsafePublicKey:
                throw failure(
                    .securityMismatch, .session,
                    "The board's answer to step \(round) of the handshake is not one of this scheme (\(error)). "
                        + "Try the scheme that its version information names.")
            case .invalidParameters, .notEstablished, .cryptoFailure:
                throw failure(.cipherFailure, .session, "The handshake failed on this side (\(error)).")
            }
        }
    }

    func refineHandshake(_ error: TransportError, round: Int) -> ProtocommError {
        if error.code == .tooLong {
            return failure(
                .securityMismatch, .session,
                "The board does not take messages as long as this security scheme's. Use another transport, or firmware "
                    + "with Security 1.", cause: error)
        }
        guard error.code == .refused else {
            var failure = refine(error)
            failure.isProofInDoubt = round > 1 && !error.neverReachedTheCipher
            return failure
        }
        guard round > 1 else {
            return failure(
                .securityMismatch, .session,
                "The board refused the first command of this security scheme. Try the scheme that its version information names.",
                cause: error)
        }
        return wrongProof(
            "The board refused the proof. Check the proof of possession on its label or QR code. "
                + "RainMaker boards stop provisioning after five wrong proofs.", cause: error)
    }

    func wrongProof(_ message: String, cause: TransportError? = nil) -> ProtocommError {
        failure(.wrongProofOfPossession, .session, message, cause: cause)
    }

    func refine(_ error: TransportError) -> ProtocommError {
        turn.isEnded ? ended(error.endpoint) : ProtocommError(error, hasAnswered: hasAnswered)
    }

    func failure(
        _ code: ProtocommError.Code, _ endpoint: Endpoint?, _ message: String, cause: TransportError? = nil
    ) -> ProtocommError {
        ProtocommError(code, endpoint: endpoint, peer: peer, message: message, cause: cause, hasAnswered: hasAnswered)
    }

    func cancelled(_ endpoint: Endpoint) -> ProtocommError {
        failure(.cancelled, endpoint, "The request was cancelled before it was sent.")
    }

    func ended(_ endpoint: Endpoint?) -> ProtocommError {
        failure(.ended, endpoint, "The session has ended.")
    }
}

extension TransportError {
    /// Whether the request certainly did not get as far as the board's cipher.
    var neverReachedTheCipher: Bool {
        code == .unreachable || code == .tooLong || code == .noSuchEndpoint || code == .busy
    }
}
