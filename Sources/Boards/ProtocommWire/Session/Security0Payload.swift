/// Security 0: one exchange that agrees on having no security (`sec0.proto`).
public struct Security0Payload: WireMessage {
    public enum Payload: Sendable, Equatable {
        case command
        case response(StatusResponse)
    }

    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        public static let command = MessageType(rawValue: 0)
        public static let response = MessageType(rawValue: 1)
    }

    public var message: MessageType
    public var payload: Payload?

    public init() {
        message = .command
        payload = nil
    }

    public init(_ payload: Payload) {
        self.payload = payload
        switch payload {
        case .command: message = .command
        case .response: message = .response
        }
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (1, _): message = try reader.enumeration(MessageType.self)
        case (20, _):
            try reader.emptyMember()
            payload = .command
        case (21, .response(let earlier)?): payload = .response(try reader.member(earlier))
        case (21, _): payload = .response(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(message, field: 1)
        switch payload {
        case .command: writer.emptyMember(field: 20)
        case .response(let inner): writer.message(inner, field: 21)
        case nil: break
        }
    }
}
