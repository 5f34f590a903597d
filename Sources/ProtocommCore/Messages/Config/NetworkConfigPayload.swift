// SPDX-License-Identifier: Apache-2.0

/// What travels on `prov-config` (`network_config.proto`).
///
/// The older `wifi_config.proto` is the same on the wire, without the Thread members.
public struct NetworkConfigPayload: WireMessage {
    /// What the message carries.
    public enum Payload: Sendable, Equatable {
        /// Asks how far the board has come in joining.
        case commandGetWiFiStatus
        /// The answer to ``commandGetWiFiStatus``.
        case responseGetWiFiStatus(WiFiStatusResponse)
        /// Hands the board a Wi-Fi network.
        case commandSetWiFiConfig(SetWiFiConfigCommand)
        /// The answer to ``commandSetWiFiConfig``.
        case responseSetWiFiConfig(StatusResponse)
        /// Has the board join the Wi-Fi network that it was given.
        case commandApplyWiFiConfig
        /// The answer to ``commandApplyWiFiConfig``.
        case responseApplyWiFiConfig(StatusResponse)
        /// Asks how far the board has come in attaching.
        case commandGetThreadStatus
        /// The answer to ``commandGetThreadStatus``.
        case responseGetThreadStatus(ThreadStatusResponse)
        /// Hands the board a Thread network.
        case commandSetThreadConfig(SetThreadConfigCommand)
        /// The answer to ``commandSetThreadConfig``.
        case responseSetThreadConfig(StatusResponse)
        /// Has the board attach to the Thread network that it was given.
        case commandApplyThreadConfig
        /// The answer to ``commandApplyThreadConfig``.
        case responseApplyThreadConfig(StatusResponse)
    }

    /// Which message this is.
    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Asks how far the board has come in joining.
        public static let commandGetWiFiStatus = MessageType(rawValue: 0)
        /// The answer to ``commandGetWiFiStatus``.
        public static let responseGetWiFiStatus = MessageType(rawValue: 1)
        /// Hands the board a Wi-Fi network.
        public static let commandSetWiFiConfig = MessageType(rawValue: 2)
        /// The answer to ``commandSetWiFiConfig``.
        public static let responseSetWiFiConfig = MessageType(rawValue: 3)
        /// Has the board join the Wi-Fi network that it was given.
        public static let commandApplyWiFiConfig = MessageType(rawValue: 4)
        /// The answer to ``commandApplyWiFiConfig``.
        public static let responseApplyWiFiConfig = MessageType(rawValue: 5)
        /// Asks how far the board has come in attaching.
        public static let commandGetThreadStatus = MessageType(rawValue: 6)
        /// The answer to ``commandGetThreadStatus``.
        public static let responseGetThreadStatus = MessageType(rawValue: 7)
        /// Hands the board a Thread network.
        public static let commandSetThreadConfig = MessageType(rawValue: 8)
        /// The answer to ``commandSetThreadConfig``.
        public static let responseSetThreadConfig = MessageType(rawValue: 9)
        /// Has the board attach to the Thread network that it was given.
        public static let commandApplyThreadConfig = MessageType(rawValue: 10)
        /// The answer to ``commandApplyThreadConfig``.
        public static let responseApplyThreadConfig = MessageType(rawValue: 11)
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
        case .commandGetWiFiStatus: message = .commandGetWiFiStatus
        case .responseGetWiFiStatus: message = .responseGetWiFiStatus
        case .commandSetWiFiConfig: message = .commandSetWiFiConfig
        case .responseSetWiFiConfig: message = .responseSetWiFiConfig
        case .commandApplyWiFiConfig: message = .commandApplyWiFiConfig
        case .responseApplyWiFiConfig: message = .responseApplyWiFiConfig
        case .commandGetThreadStatus: message = .commandGetThreadStatus
        case .responseGetThreadStatus: message = .responseGetThreadStatus
        case .commandSetThreadConfig: message = .commandSetThreadConfig
        case .responseSetThreadConfig: message = .responseSetThreadConfig
        case .commandApplyThreadConfig: message = .commandApplyThreadConfig
        case .responseApplyThreadConfig: message = .responseApplyThreadConfig
        }
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (1, _): message = try reader.enumeration(MessageType.self)
        case (10, _):
            try reader.emptyMember()
            payload = .commandGetWiFiStatus
        case (11, .responseGetWiFiStatus(let earlier)?): payload = .responseGetWiFiStatus(try reader.member(earlier))
        case (11, _): payload = .responseGetWiFiStatus(try reader.member())
        case (12, .commandSetWiFiConfig(let earlier)?): payload = .commandSetWiFiConfig(try reader.member(earlier))
        case (12, _): payload = .commandSetWiFiConfig(try reader.member())
        case (13, .responseSetWiFiConfig(let earlier)?): payload = .responseSetWiFiConfig(try reader.member(earlier))
        case (13, _): payload = .responseSetWiFiConfig(try reader.member())
        case (14, _):
            try reader.emptyMember()
            payload = .commandApplyWiFiConfig
        case (15, .responseApplyWiFiConfig(let earlier)?):
            payload = .responseApplyWiFiConfig(try reader.member(earlier))
        case (15, _): payload = .responseApplyWiFiConfig(try reader.member())
        case (16, _):
            try reader.emptyMember()
            payload = .commandGetThreadStatus
        case (17, .responseGetThreadStatus(let earlier)?):
            payload = .responseGetThreadStatus(try reader.member(earlier))
        case (17, _): payload = .responseGetThreadStatus(try reader.member())
        case (18, .commandSetThreadConfig(let earlier)?): payload = .commandSetThreadConfig(try reader.member(earlier))
        case (18, _): payload = .commandSetThreadConfig(try reader.member())
        case (19, .responseSetThreadConfig(let earlier)?):
            payload = .responseSetThreadConfig(try reader.member(earlier))
        case (19, _): payload = .responseSetThreadConfig(try reader.member())
        case (20, _):
            try reader.emptyMember()
            payload = .commandApplyThreadConfig
        case (21, .responseApplyThreadConfig(let earlier)?):
            payload = .responseApplyThreadConfig(try reader.member(earlier))
        case (21, _): payload = .responseApplyThreadConfig(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(message, field: 1)
        switch payload {
        case .commandGetWiFiStatus: writer.emptyMember(field: 10)
        case .responseGetWiFiStatus(let inner): writer.message(inner, field: 11)
        case .commandSetWiFiConfig(let inner): writer.message(inner, field: 12)
        case .responseSetWiFiConfig(let inner): writer.message(inner, field: 13)
        case .commandApplyWiFiConfig: writer.emptyMember(field: 14)
        case .responseApplyWiFiConfig(let inner): writer.message(inner, field: 15)
        case .commandGetThreadStatus: writer.emptyMember(field: 16)
        case .responseGetThreadStatus(let inner): writer.message(inner, field: 17)
        case .commandSetThreadConfig(let inner): writer.message(inner, field: 18)
        case .responseSetThreadConfig(let inner): writer.message(inner, field: 19)
        case .commandApplyThreadConfig: writer.emptyMember(field: 20)
        case .responseApplyThreadConfig(let inner): writer.message(inner, field: 21)
        case nil: break
        }
    }
}
