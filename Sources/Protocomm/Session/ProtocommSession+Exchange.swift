// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommCore
import RainIO

extension ProtocommSession {
    func exchange(
        _ request: [UInt8], on endpoint: Endpoint, within limit: Duration
    ) async throws(TransportError) -> [UInt8] {
        let (transport, clock) = (transport, clock)
        let outcome = await withDeadline(limit, sleep: { try await clock.sleep(for: $0) }) {
            () async throws(TransportError) in try await transport.exchange(request, on: endpoint)
        }
        switch outcome {
        case .success(let answer)?:
            hasAnswered = true
            logger.debug(
                "exchange", metadata: ["peer": "\(peer)", "endpoint": "\(endpoint)", "bytes": "\(answer.count)"])
            return answer
        case .failure? where Task.isCancelled:
            // Whatever the transport calls it: nobody is to make a link again for that.
            throw TransportError(.cancelled, endpoint: endpoint, peer: peer, message: "The exchange was cancelled.")
        case .failure(let error)?:
            throw error
        case nil:
            throw TransportError(.timeout, endpoint: endpoint, peer: peer, message: "No answer within \(limit).")
        }
    }

    func checkLength(_ count: Int, _ endpoint: Endpoint) throws(ProtocommError) {
        guard let limit = transport.maximumRequestLength(on: endpoint), count > limit else { return }
        throw failure(
            .tooLong, endpoint,
            "The request has \(count) bytes, and \(transport.carrier) carries at most \(limit) there.")
    }

    func cipherStep(
        _ endpoint: Endpoint, _ body: () throws(CipherError) -> [UInt8]
    ) throws(ProtocommError) -> [UInt8] {
        do throws(CipherError) {
            return try body()
        } catch {
            throw failure(
                .cipherFailure, endpoint,
                "The message could not be encrypted or decrypted (\(error)). Shake hands again.")
        }
    }
}
