// SPDX-License-Identifier: Apache-2.0

/// A message on `prov-ctrl` (`network_ctrl.proto`). It returns the board to the start after a failure (reset) or after a success
/// (reprovision).
///
/// All members are empty; the result is in ``status``.
public struct NetworkControlPayload: WireMessage {
    /// A message's payload.
    public enum Payload: Sendable, Equatable {
        /// Tells the board to forget Wi-Fi settings that failed.
        case commandWiFiReset
        /// The answer to ``commandWiFiReset``.
        case responseWiFiReset
        /// Tells the board to accept other Wi-Fi settings instead of its current ones.
        case commandWiFiReprovision
        /// The answer to ``commandWiFiReprovision``.
        case responseWiFiReprovision
        /// Tells the board to forget Thread settings that failed.
        case commandThreadReset
        /// The answer to ``commandThreadReset``.
        case responseThreadReset
        /// Tells the board to accept other Thread settings instead of its current ones.
        case commandThreadReprovision
        /// The answer to ``commandThreadReprovision``.
        case responseThreadReprovision
    }

    /// The message's type.
    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Tells the board to forget Wi-Fi settings that failed.
        public static let commandWiFiReset = MessageType(rawValue: 1)
        /// The answer to ``commandWiFiReset``.
        public static let responseWiFiReset = MessageType(rawValue: 2)
        /// Tells the board to accept other Wi-Fi settings instead of its current ones.
        public static let commandWiFiReprovision = MessageType(rawValue: 3)
        /// The answer to ``commandWiFiReprovision``.
        public static let responseWiFiReprovision = MessageType(rawValue: 4)
        /// Tells the board to forget Thread settings that failed.
        public static let commandThreadReset = MessageType(rawValue: 5)
        /// The answer to ``commandThreadReset``.
        public static let responseThreadReset = MessageType(rawValue: 6)
        /// Tells the board to accept other Thread settings instead of its current ones.
        public static let commandThreadReprovision = MessageType(rawValue: 7)
        /// The answer to ``commandThreadReprovision``.
        public static let responseThreadReprovision = MessageType(rawValue: 8)
    }

    /// The message's type. Firmware accepts some requests with the type alone, without their empty member.
    public var message: MessageType
    /// The result of the request; only responses have one.
    public var status: Status
    /// The message's payload; nil if it has none, or one that this version does not know.
    public var payload: Payload?

    public init() {
        message = MessageType(rawValue: 0)
        status = .success
        payload = nil
    }

    /// Sets the message type and the member.
    public init(_ payload: Payload, status: Status = .success) {
        self.payload = payload
        self.status = status
        switch payload {
        case .commandWiFiReset: message = .commandWiFiReset
        case .responseWiFiReset: message = .responseWiFiReset
        case .commandWiFiReprovision: message = .commandWiFiReprovision
        case .responseWiFiReprovision: message = .responseWiFiReprovision
        case .commandThreadReset: message = .commandThreadReset
        case .responseThreadReset: message = .responseThreadReset
        case .commandThreadReprovision: message = .commandThreadReprovision
        case .responseThreadReprovision: message = .responseThreadReprovision
        }
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (1, _): message = try reader.enumeration(MessageType.self)
        case (2, _): status = try reader.enumeration(Status.self)
        case (11, _):
            try reader.emptyMember()
            payload = .commandWiFiReset
        case (12, _):
            try reader.emptyMember()
            payload = .responseWiFiReset
        case (13, _):
            try reader.emptyMember()
            payload = .commandWiFiReprovision
        case (14, _):
            try reader.emptyMember()
            payload = .responseWiFiReprovision
        case (15, _):
            try reader.emptyMember()
            payload = .commandThreadReset
        case (16, _):
            try reader.emptyMember()
            payload = .responseThreadReset
        case (17, _):
            try reader.emptyMember()
            payload = .commandThreadReprovision
        case (18, _):
            try reader.emptyMember()
            payload = .responseThreadReprovision
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(message, field: 1)
        writer.enumeration(status, field: 2)
        switch payload {
        case .commandWiFiReset: writer.emptyMember(field: 11)
        case .responseWiFiReset: writer.emptyMember(field: 12)
        case .commandWiFiReprovision: writer.emptyMember(field: 13)
        case .responseWiFiReprovision: writer.emptyMember(field: 14)
        case .commandThreadReset: writer.emptyMember(field: 15)
        case .responseThreadReset: writer.emptyMember(field: 16)
        case .commandThreadReprovision: writer.emptyMember(field: 17)
        case .responseThreadReprovision: writer.emptyMember(field: 18)
        case nil: break
        }
    }
}
