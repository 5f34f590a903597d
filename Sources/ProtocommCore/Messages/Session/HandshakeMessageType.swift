// SPDX-License-Identifier: Apache-2.0

/// Which of the four steps of a two-round handshake a Security 1 or Security 2 payload is.
public struct HandshakeMessageType: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The client's first message.
    public static let command0 = HandshakeMessageType(rawValue: 0)
    /// The board's answer to it.
    public static let response0 = HandshakeMessageType(rawValue: 1)
    /// The client's second message.
    public static let command1 = HandshakeMessageType(rawValue: 2)
    /// The board's answer to that.
    public static let response1 = HandshakeMessageType(rawValue: 3)
}
