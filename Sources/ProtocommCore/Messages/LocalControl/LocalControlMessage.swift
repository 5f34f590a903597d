// SPDX-License-Identifier: Apache-2.0

/// What travels on `esp_local_ctrl/control` (`LocalCtrlMessage`): a node's properties on the local network.
///
/// A RainMaker node has two: 0 is `config` (read-only), 1 is `params`.
public struct LocalControlMessage: WireMessage {
    /// What the message carries.
    public enum Payload: Sendable, Equatable {
        /// Asks how many properties there are.
        case commandGetPropertyCount
        /// The answer to ``commandGetPropertyCount``.
        case responseGetPropertyCount(PropertyCountResponse)
        /// Asks for properties by their indices.
        case commandGetPropertyValues(GetPropertyValuesCommand)
        /// The answer to ``commandGetPropertyValues``.
        case responseGetPropertyValues(PropertyValuesResponse)
        /// Gives properties new values.
        case commandSetPropertyValues(SetPropertyValuesCommand)
        /// The answer to ``commandSetPropertyValues``.
        case responseSetPropertyValues(StatusResponse)
    }

    /// Which message this is.
    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Asks how many properties there are.
        public static let commandGetPropertyCount = MessageType(rawValue: 0)
        /// The answer to ``commandGetPropertyCount``.
        public static let responseGetPropertyCount = MessageType(rawValue: 1)
        /// Asks for properties by their indices.
        public static let commandGetPropertyValues = MessageType(rawValue: 4)
        /// The answer to ``commandGetPropertyValues``.
        public static let responseGetPropertyValues = MessageType(rawValue: 5)
        /// Gives properties new values.
        public static let commandSetPropertyValues = MessageType(rawValue: 6)
        /// The answer to ``commandSetPropertyValues``.
        public static let responseSetPropertyValues = MessageType(rawValue: 7)
    }

    /// What the message is. Some requests are accepted with this alone, their empty member left out.
    public var message: MessageType
    /// What the message carries; nil where it carries nothing that is known here.
    public var payload: Payload?

    public init() {
        message = MessageType(rawValue: 0)
        payload = nil
    }

    /// Both the message type and the member are set.
    public init(_ payload: Payload) {
        self.payload = payload
        switch payload {
        case .commandGetPropertyCount: message = .commandGetPropertyCount
        case .responseGetPropertyCount: message = .responseGetPropertyCount
        case .commandGetPropertyValues: message = .commandGetPropertyValues
        case .responseGetPropertyValues: message = .responseGetPropertyValues
        case .commandSetPropertyValues: message = .commandSetPropertyValues
        case .responseSetPropertyValues: message = .responseSetPropertyValues
        }
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (1, _): message = try reader.enumeration(MessageType.self)
        case (10, _):
            try reader.emptyMember()
            payload = .commandGetPropertyCount
        case (11, .responseGetPropertyCount(let earlier)?):
            payload = .responseGetPropertyCount(try reader.member(earlier))
        case (11, _): payload = .responseGetPropertyCount(try reader.member())
        case (12, .commandGetPropertyValues(let earlier)?):
            payload = .commandGetPropertyValues(try reader.member(earlier))
        case (12, _): payload = .commandGetPropertyValues(try reader.member())
        case (13, .responseGetPropertyValues(let earlier)?):
            payload = .responseGetPropertyValues(try reader.member(earlier))
        case (13, _): payload = .responseGetPropertyValues(try reader.member())
        case (14, .commandSetPropertyValues(let earlier)?):
            payload = .commandSetPropertyValues(try reader.member(earlier))
        case (14, _): payload = .commandSetPropertyValues(try reader.member())
        case (15, .responseSetPropertyValues(let earlier)?):
            payload = .responseSetPropertyValues(try reader.member(earlier))
        case (15, _): payload = .responseSetPropertyValues(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(message, field: 1)
        switch payload {
        case .commandGetPropertyCount: writer.emptyMember(field: 10)
        case .responseGetPropertyCount(let inner): writer.message(inner, field: 11)
        case .commandGetPropertyValues(let inner): writer.message(inner, field: 12)
        case .responseGetPropertyValues(let inner): writer.message(inner, field: 13)
        case .commandSetPropertyValues(let inner): writer.message(inner, field: 14)
        case .responseSetPropertyValues(let inner): writer.message(inner, field: 15)
        case nil: break
        }
    }
}
