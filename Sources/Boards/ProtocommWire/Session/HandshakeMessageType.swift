/// Which of the four steps of a two-round handshake a Security 1 or Security 2 payload is.
public struct HandshakeMessageType: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    public static let command0 = HandshakeMessageType(rawValue: 0)
    public static let response0 = HandshakeMessageType(rawValue: 1)
    public static let command1 = HandshakeMessageType(rawValue: 2)
    public static let response1 = HandshakeMessageType(rawValue: 3)
}
