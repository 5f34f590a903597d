// SPDX-License-Identifier: Apache-2.0

/// The client's end of Security 0: one exchange that agrees on having no security.
public struct Security0Client: SecurityScheme {
    public var title: String { "Security 0" }

    private enum State { case ready, awaitingResponse, established, ended }
    private var state = State.ready

    public init() {}

    public mutating func start() throws(HandshakeError) -> HandshakeStep {
        guard state == .ready else { throw .notEstablished }
        state = .awaitingResponse
        return .send(SessionData(.security0(Security0Payload(.command))).encoded())
    }

    public mutating func receive(_ response: [UInt8]) throws(HandshakeError) -> HandshakeStep {
        guard state == .awaitingResponse else { throw .notEstablished }
        state = .ended
        let message = try SessionData.decode(response, expecting: .security0)
        guard case .security0(let payload)? = message.payload, payload.message == .response,
            case .response(let body)? = payload.payload
        else { throw .malformed }
        try body.status.orThrow()
        state = .established
        return .established
    }

    public consuming func finish() throws(HandshakeError) -> PlainCipher {
        guard state == .established else { throw .notEstablished }
        return PlainCipher()
    }
}
