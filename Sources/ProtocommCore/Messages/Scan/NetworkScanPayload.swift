// SPDX-License-Identifier: Apache-2.0

/// What travels on `prov-scan` (`network_scan.proto`).
///
/// The older `wifi_scan.proto` is the same on the wire, without the Thread members.
public struct NetworkScanPayload: WireMessage {
    /// What the message carries.
    public enum Payload: Sendable, Equatable {
        /// Starts a scan for access points.
        case commandScanWiFiStart(ScanWiFiStartCommand)
        /// The answer to ``commandScanWiFiStart``.
        case responseScanWiFiStart
        /// Asks how far the scan for access points has got.
        case commandScanWiFiStatus
        /// The answer to ``commandScanWiFiStatus``.
        case responseScanWiFiStatus(ScanStatusResponse)
        /// Asks for a page of the access points that were found.
        case commandScanWiFiResult(ScanResultCommand)
        /// The answer to ``commandScanWiFiResult``.
        case responseScanWiFiResult(ScanWiFiResultResponse)
        /// Starts a scan for Thread networks.
        case commandScanThreadStart(ScanThreadStartCommand)
        /// The answer to ``commandScanThreadStart``.
        case responseScanThreadStart
        /// Asks how far the scan for Thread networks has got.
        case commandScanThreadStatus
        /// The answer to ``commandScanThreadStatus``.
        case responseScanThreadStatus(ScanStatusResponse)
        /// Asks for a page of the Thread networks that were found.
        case commandScanThreadResult(ScanResultCommand)
        /// The answer to ``commandScanThreadResult``.
        case responseScanThreadResult(ScanThreadResultResponse)
    }

    /// Which message this is.
    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Starts a scan for access points.
        public static let commandScanWiFiStart = MessageType(rawValue: 0)
        /// The answer to ``commandScanWiFiStart``.
        public static let responseScanWiFiStart = MessageType(rawValue: 1)
        /// Asks how far the scan for access points has got.
        public static let commandScanWiFiStatus = MessageType(rawValue: 2)
        /// The answer to ``commandScanWiFiStatus``.
        public static let responseScanWiFiStatus = MessageType(rawValue: 3)
        /// Asks for a page of the access points that were found.
        public static let commandScanWiFiResult = MessageType(rawValue: 4)
        /// The answer to ``commandScanWiFiResult``.
        public static let responseScanWiFiResult = MessageType(rawValue: 5)
        /// Starts a scan for Thread networks.
        public static let commandScanThreadStart = MessageType(rawValue: 6)
        /// The answer to ``commandScanThreadStart``.
        public static let responseScanThreadStart = MessageType(rawValue: 7)
        /// Asks how far the scan for Thread networks has got.
        public static let commandScanThreadStatus = MessageType(rawValue: 8)
        /// The answer to ``commandScanThreadStatus``.
        public static let responseScanThreadStatus = MessageType(rawValue: 9)
        /// Asks for a page of the Thread networks that were found.
        public static let commandScanThreadResult = MessageType(rawValue: 10)
        /// The answer to ``commandScanThreadResult``.
        public static let responseScanThreadResult = MessageType(rawValue: 11)
    }

    /// What the message is. Some requests are accepted with this alone, their empty member left out.
    public var message: MessageType
    /// The verdict on the request; only responses carry it.
    public var status: Status
    /// What the message carries; nil where it carries nothing that is known here.
    public var payload: Payload?

    public init() {
        message = MessageType(rawValue: 0)
        status = .success
        payload = nil
    }

    /// Both the message type and the member are set.
    public init(_ payload: Payload, status: Status = .success) {
        self.payload = payload
        self.status = status
        switch payload {
        case .commandScanWiFiStart: message = .commandScanWiFiStart
        case .responseScanWiFiStart: message = .responseScanWiFiStart
        case .commandScanWiFiStatus: message = .commandScanWiFiStatus
        case .responseScanWiFiStatus: message = .responseScanWiFiStatus
        case .commandScanWiFiResult: message = .commandScanWiFiResult
        case .responseScanWiFiResult: message = .responseScanWiFiResult
        case .commandScanThreadStart: message = .commandScanThreadStart
        case .responseScanThreadStart: message = .responseScanThreadStart
        case .commandScanThreadStatus: message = .commandScanThreadStatus
        case .responseScanThreadStatus: message = .responseScanThreadStatus
        case .commandScanThreadResult: message = .commandScanThreadResult
        case .responseScanThreadResult: message = .responseScanThreadResult
        }
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (1, _): message = try reader.enumeration(MessageType.self)
        case (2, _): status = try reader.enumeration(Status.self)
        case (10, .commandScanWiFiStart(let earlier)?): payload = .commandScanWiFiStart(try reader.member(earlier))
        case (10, _): payload = .commandScanWiFiStart(try reader.member())
        case (11, _):
            try reader.emptyMember()
            payload = .responseScanWiFiStart
        case (12, _):
            try reader.emptyMember()
            payload = .commandScanWiFiStatus
        case (13, .responseScanWiFiStatus(let earlier)?): payload = .responseScanWiFiStatus(try reader.member(earlier))
        case (13, _): payload = .responseScanWiFiStatus(try reader.member())
        case (14, .commandScanWiFiResult(let earlier)?): payload = .commandScanWiFiResult(try reader.member(earlier))
        case (14, _): payload = .commandScanWiFiResult(try reader.member())
        case (15, .responseScanWiFiResult(let earlier)?): payload = .responseScanWiFiResult(try reader.member(earlier))
        case (15, _): payload = .responseScanWiFiResult(try reader.member())
        case (16, .commandScanThreadStart(let earlier)?): payload = .commandScanThreadStart(try reader.member(earlier))
        case (16, _): payload = .commandScanThreadStart(try reader.member())
        case (17, _):
            try reader.emptyMember()
            payload = .responseScanThreadStart
        case (18, _):
            try reader.emptyMember()
            payload = .commandScanThreadStatus
        case (19, .responseScanThreadStatus(let earlier)?):
            payload = .responseScanThreadStatus(try reader.member(earlier))
        case (19, _): payload = .responseScanThreadStatus(try reader.member())
        case (20, .commandScanThreadResult(let earlier)?):
            payload = .commandScanThreadResult(try reader.member(earlier))
        case (20, _): payload = .commandScanThreadResult(try reader.member())
        case (21, .responseScanThreadResult(let earlier)?):
            payload = .responseScanThreadResult(try reader.member(earlier))
        case (21, _): payload = .responseScanThreadResult(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(message, field: 1)
        writer.enumeration(status, field: 2)
        switch payload {
        case .commandScanWiFiStart(let inner): writer.message(inner, field: 10)
        case .responseScanWiFiStart: writer.emptyMember(field: 11)
        case .commandScanWiFiStatus: writer.emptyMember(field: 12)
        case .responseScanWiFiStatus(let inner): writer.message(inner, field: 13)
        case .commandScanWiFiResult(let inner): writer.message(inner, field: 14)
        case .responseScanWiFiResult(let inner): writer.message(inner, field: 15)
        case .commandScanThreadStart(let inner): writer.message(inner, field: 16)
        case .responseScanThreadStart: writer.emptyMember(field: 17)
        case .commandScanThreadStatus: writer.emptyMember(field: 18)
        case .responseScanThreadStatus(let inner): writer.message(inner, field: 19)
        case .commandScanThreadResult(let inner): writer.message(inner, field: 20)
        case .responseScanThreadResult(let inner): writer.message(inner, field: 21)
        case nil: break
        }
    }
}
