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

/// The board's end of Security 0. Like the firmware, it checks only the scheme's number.
public struct Security0Device: DeviceSecurityScheme {
    public init() {}

    public mutating func respond(to request: [UInt8]) throws(HandshakeError) -> DeviceHandshakeStep<PlainCipher> {
        _ = try SessionData.decode(request, expecting: .security0)
        let reply = SessionData(.security0(Security0Payload(.response(StatusResponse(.success)))))
        return .established(reply: reply.encoded(), cipher: PlainCipher())
    }
}

/// The cipher of Security 0, which leaves messages as they are.
public struct PlainCipher: SessionCipher {
    public init() {}
    public mutating func encrypt(_ plaintext: [UInt8]) throws(CipherError) -> [UInt8] { plaintext }
    public mutating func decrypt(_ ciphertext: [UInt8]) throws(CipherError) -> [UInt8] { ciphertext }
}
