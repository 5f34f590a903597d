/// What travels on `prov-scan` (`network_scan.proto`).
///
/// The older `wifi_scan.proto` is the same on the wire, without the Thread members.
public struct NetworkScanPayload: WireMessage {
    public enum Payload: Sendable, Equatable {
        case commandScanWiFiStart(ScanWiFiStartCommand)
        case responseScanWiFiStart
        case commandScanWiFiStatus
        case responseScanWiFiStatus(ScanStatusResponse)
        case commandScanWiFiResult(ScanResultCommand)
        case responseScanWiFiResult(ScanWiFiResultResponse)
        case commandScanThreadStart(ScanThreadStartCommand)
        case responseScanThreadStart
        case commandScanThreadStatus
        case responseScanThreadStatus(ScanStatusResponse)
        case commandScanThreadResult(ScanResultCommand)
        case responseScanThreadResult(ScanThreadResultResponse)
    }

    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        public static let commandScanWiFiStart = MessageType(rawValue: 0)
        public static let responseScanWiFiStart = MessageType(rawValue: 1)
        public static let commandScanWiFiStatus = MessageType(rawValue: 2)
        public static let responseScanWiFiStatus = MessageType(rawValue: 3)
        public static let commandScanWiFiResult = MessageType(rawValue: 4)
        public static let responseScanWiFiResult = MessageType(rawValue: 5)
        public static let commandScanThreadStart = MessageType(rawValue: 6)
        public static let responseScanThreadStart = MessageType(rawValue: 7)
        public static let commandScanThreadStatus = MessageType(rawValue: 8)
        public static let responseScanThreadStatus = MessageType(rawValue: 9)
        public static let commandScanThreadResult = MessageType(rawValue: 10)
        public static let responseScanThreadResult = MessageType(rawValue: 11)
    }

    /// What the message is. Some requests are accepted with this alone, their empty member left out.
    public var message: MessageType
    public var status: Status
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
