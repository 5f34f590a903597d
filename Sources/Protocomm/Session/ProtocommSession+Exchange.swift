import Logging
import ProtocommSecurity
import ProtocommWire

extension ProtocommSession {
    func exchange(
        _ request: [UInt8], on endpoint: Endpoint, within limit: Duration
    ) async throws(TransportError) -> [UInt8] {
        let (transport, clock) = (transport, clock)
        let outcome = await withTaskGroup(
            of: Result<[UInt8], TransportError>?.self, returning: Result<[UInt8], TransportError>?.self
        ) { group in
            group.addTask {
                do throws(TransportError) {
                    return .success(try await transport.exchange(request, on: endpoint))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await clock.sleep(for: limit)
                return nil
            }
            // The first to finish decides; the other is cancelled, and awaited so that no exchange outlives its turn.
            let first = await group.next() ?? nil
            group.cancelAll()
            if let first { return first }
            let late = await group.next() ?? nil
            if case .success = late { return late }
            return nil
        }
        switch outcome {
        case .success(let answer):
            hasAnswered = true
            logger.debug(
                "exchange", metadata: ["peer": "\(peer)", "endpoint": "\(endpoint)", "bytes": "\(answer.count)"])
            return answer
        case .failure(let error):
            throw error
        case nil:
            if Task.isCancelled {
                throw TransportError(.cancelled, endpoint: endpoint, peer: peer, message: "The exchange was cancelled.")
            }
            throw TransportError(.timeout, endpoint: endpoint, peer: peer, message: "No answer within \(limit).")
        }
    }

    func checkLength(_ count: Int, _ endpoint: Endpoint) throws(ProtocommError) {
        guard let limit = transport.maximumRequestLength(on: endpoint), count > limit else { return }
        throw failure(
            .tooLong, endpoint, "The request has \(count) bytes, and this transport carries at most \(limit) there.")
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
