import ProtocommWire

/// `rmaker_claim` of a board that is not ready to be claimed: each step is answered with `invalidState`.
enum ClaimRefusal {
    static func respond(to request: [UInt8]) throws(HandlerFailure) -> [UInt8] {
        let message: ClaimPayload
        do { message = try ClaimPayload(decoding: request) } catch { throw HandlerFailure() }
        let answer: ClaimMessageType
        switch message.message {
        case .commandStart: answer = .responseStart
        case .commandInit: answer = .responseInit
        case .commandVerify: answer = .responseVerify
        case .commandAbort: answer = .responseAbort
        default: throw HandlerFailure()
        }
        return ClaimPayload(answer, .response(PayloadResponse(status: .invalidState))).encoded()
    }
}
