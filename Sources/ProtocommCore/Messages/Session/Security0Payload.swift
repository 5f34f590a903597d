// SPDX-License-Identifier: Apache-2.0

/// Security 0: one exchange that agrees on having no security (`sec0.proto`).
public struct Security0Payload: WireMessage {
    /// What the message carries.
    public enum Payload: Sendable, Equatable {
        /// The client's message; it has no fields.
        case command
        /// The board's answer to it.
        case response(StatusResponse)
    }

    /// Which message this is.
    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// The client's message.
        public static let command = MessageType(rawValue: 0)
        /// The board's answer to it.
        public static let response = MessageType(rawValue: 1)
    }

    /// Which message this is.
    public var message: MessageType
    /// What the message carries; nil where it carries nothing that is known here.
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
