// SPDX-License-Identifier: Apache-2.0

/// The board's end of Security 0. Like the firmware, it looks at nothing but the scheme's number.
public struct Security0Device: DeviceSecurityScheme {
    public init() {}

    public mutating func respond(to request: [UInt8]) throws(HandshakeError) -> DeviceHandshakeStep<PlainCipher> {
        _ = try SessionData.decode(request, expecting: .security0)
        let reply = SessionData(.security0(Security0Payload(.response(StatusResponse(.success)))))
        return .established(reply: reply.encoded(), cipher: PlainCipher())
    }
}
