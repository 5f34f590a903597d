// SPDX-License-Identifier: Apache-2.0

/// A message on `prov-scan` (`network_scan.proto`).
///
/// The older `wifi_scan.proto` has the same encoding, without the Thread members.
public struct NetworkScanPayload: WireMessage {
    /// A message's payload.
    public enum Payload: Sendable, Equatable {
        /// Starts a scan for access points.
        case commandScanWiFiStart(ScanWiFiStartCommand)
        /// The answer to ``commandScanWiFiStart``.
        case responseScanWiFiStart
        /// Asks for the progress of the scan for access points.
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
        /// Asks for the progress of the scan for Thread networks.
        case commandScanThreadStatus
        /// The answer to ``commandScanThreadStatus``.
        case responseScanThreadStatus(ScanStatusResponse)
        /// Asks for a page of the Thread networks that were found.
        case commandScanThreadResult(ScanResultCommand)
        /// The answer to ``commandScanThreadResult``.
        case responseScanThreadResult(ScanThreadResultResponse)
    }

    /// The message's type.
    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Starts a scan for access points.
        public static let commandScanWiFiStart = MessageType(rawValue: 0)
        /// The answer to ``commandScanWiFiStart``.
        public static let responseScanWiFiStart = MessageType(rawValue: 1)
        /// Asks for the progress of the scan for access points.
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
        /// Asks for the progress of the scan for Thread networks.
        public static let commandScanThreadStatus = MessageType(rawValue: 8)
        /// The answer to ``commandScanThreadStatus``.
        public static let responseScanThreadStatus = MessageType(rawValue: 9)
        /// Asks for a page of the Thread networks that were found.
        public static let commandScanThreadResult = MessageType(rawValue: 10)
        /// The answer to ``commandScanThreadResult``.
        public static let responseScanThreadResult = MessageType(rawValue: 11)
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

/// The progress of a scan. `isFinished` is also true before any scan.
public struct ScanStatusResponse: WireMessage {
    /// Whether no scan is running.
    public var isFinished: Bool
    /// The number of results that are available so far.
    public var resultCount: UInt32

    public init() { self.init(isFinished: false) }

    public init(isFinished: Bool = false, resultCount: UInt32 = 0) {
        self.isFinished = isFinished
        self.resultCount = resultCount
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: isFinished = try reader.bool()
        case 2: resultCount = try reader.uint32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.bool(isFinished, field: 1)
        writer.uint32(resultCount, field: 2)
    }
}

/// Asks for a page of the results. A request beyond the last result makes a board drop the connection.
public struct ScanResultCommand: WireMessage {
    public var startIndex: UInt32
    /// The maximum number of results in the page.
    public var count: UInt32

    public init() { self.init(startIndex: 0) }

    public init(startIndex: UInt32 = 0, count: UInt32 = 0) {
        self.startIndex = startIndex
        self.count = count
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: startIndex = try reader.uint32()
        case 2: count = try reader.uint32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.uint32(startIndex, field: 1)
        writer.uint32(count, field: 2)
    }
}

/// Starts a scan for access points.
public struct ScanWiFiStartCommand: WireMessage {
    /// Whether the board answers only after the scan.
    public var isBlocking: Bool
    /// Whether the board only listens and sends no probes.
    public var isPassive: Bool
    /// How many channels to scan before the board serves its access point for a while; 0 scans all channels at once.
    public var groupChannels: UInt32
    /// Time on each channel. Firmware with Bluetooth ignores it.
    public var periodMilliseconds: UInt32

    public init() { self.init(isBlocking: false) }

    public init(
        isBlocking: Bool = false, isPassive: Bool = false, groupChannels: UInt32 = 0, periodMilliseconds: UInt32 = 0
    ) {
        self.isBlocking = isBlocking
        self.isPassive = isPassive
        self.groupChannels = groupChannels
        self.periodMilliseconds = periodMilliseconds
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: isBlocking = try reader.bool()
        case 2: isPassive = try reader.bool()
        case 3: groupChannels = try reader.uint32()
        case 4: periodMilliseconds = try reader.uint32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.bool(isBlocking, field: 1)
        writer.bool(isPassive, field: 2)
        writer.uint32(groupChannels, field: 3)
        writer.uint32(periodMilliseconds, field: 4)
    }
}

/// An access point that the board receives.
public struct WiFiScanResult: WireMessage {
    /// Any bytes; empty for a hidden network.
    public var ssid: [UInt8]
    /// The radio channel.
    public var channel: UInt32
    /// dBm.
    public var rssi: Int32
    /// 6 bytes.
    public var bssid: [UInt8]
    /// How the network is protected.
    public var authentication: WiFiAuthentication

    public init() { self.init(ssid: []) }

    public init(
        ssid: [UInt8] = [], channel: UInt32 = 0, rssi: Int32 = 0, bssid: [UInt8] = [],
        authentication: WiFiAuthentication = .open
    ) {
        self.ssid = ssid
        self.channel = channel
        self.rssi = rssi
        self.bssid = bssid
        self.authentication = authentication
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: ssid = try reader.byteString()
        case 2: channel = try reader.uint32()
        case 3: rssi = try reader.int32()
        case 4: bssid = try reader.byteString()
        case 5: authentication = try reader.enumeration(WiFiAuthentication.self)
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(ssid, field: 1)
        writer.uint32(channel, field: 2)
        writer.int32(rssi, field: 3)
        writer.byteString(bssid, field: 4)
        writer.enumeration(authentication, field: 5)
    }
}

/// A page of the access points found, strongest first.
public struct ScanWiFiResultResponse: WireMessage {
    /// Firmware keeps 16 results by default. A page with more entries than this is rejected as garbage.
    public static let maximumEntries = 64

    /// The access points of this page.
    public var entries: [WiFiScanResult]

    public init() { self.init([]) }
    public init(_ entries: [WiFiScanResult]) { self.entries = entries }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: try reader.append(to: &entries, limit: Self.maximumEntries)
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) { writer.repeated(entries, field: 1) }
}

/// Starts a scan for Thread networks.
public struct ScanThreadStartCommand: WireMessage {
    /// Whether the board answers only after the scan.
    public var isBlocking: Bool
    /// The channels to listen on, as a bit mask.
    public var channelMask: UInt32

    public init() { self.init(isBlocking: false) }

    public init(isBlocking: Bool = false, channelMask: UInt32 = 0) {
        self.isBlocking = isBlocking
        self.channelMask = channelMask
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: isBlocking = try reader.bool()
        case 2: channelMask = try reader.uint32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.bool(isBlocking, field: 1)
        writer.uint32(channelMask, field: 2)
    }
}

/// A Thread network that the board receives.
public struct ThreadScanResult: WireMessage {
    /// 16 bits.
    public var panID: UInt32
    /// The radio channel.
    public var channel: UInt32
    /// dBm.
    public var rssi: Int32
    /// The link quality indicator; higher is better.
    public var linkQuality: UInt32
    /// 8 bytes.
    public var extendedAddress: [UInt8]
    /// UTF-8.
    public var networkName: [UInt8]
    /// 8 bytes.
    public var extendedPANID: [UInt8]

    public init() { self.init(panID: 0) }

    public init(
        panID: UInt32 = 0, channel: UInt32 = 0, rssi: Int32 = 0, linkQuality: UInt32 = 0, extendedAddress: [UInt8] = [],
        networkName: [UInt8] = [], extendedPANID: [UInt8] = []
    ) {
        self.panID = panID
        self.channel = channel
        self.rssi = rssi
        self.linkQuality = linkQuality
        self.extendedAddress = extendedAddress
        self.networkName = networkName
        self.extendedPANID = extendedPANID
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: panID = try reader.uint32()
        case 2: channel = try reader.uint32()
        case 3: rssi = try reader.int32()
        case 4: linkQuality = try reader.uint32()
        case 5: extendedAddress = try reader.byteString()
        case 6: networkName = try reader.byteString()
        case 7: extendedPANID = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.uint32(panID, field: 1)
        writer.uint32(channel, field: 2)
        writer.int32(rssi, field: 3)
        writer.uint32(linkQuality, field: 4)
        writer.byteString(extendedAddress, field: 5)
        writer.byteString(networkName, field: 6)
        writer.byteString(extendedPANID, field: 7)
    }
}

/// A page of the Thread networks found.
public struct ScanThreadResultResponse: WireMessage {
    /// Firmware keeps 16 results by default. A page with more entries than this is rejected as garbage.
    public static let maximumEntries = 64

    /// The Thread networks of this page.
    public var entries: [ThreadScanResult]

    public init() { self.init([]) }
    public init(_ entries: [ThreadScanResult]) { self.entries = entries }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: try reader.append(to: &entries, limit: Self.maximumEntries)
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) { writer.repeated(entries, field: 1) }
}
