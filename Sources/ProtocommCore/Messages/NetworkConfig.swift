// SPDX-License-Identifier: Apache-2.0

/// A message on `prov-config` (`network_config.proto`).
///
/// The older `wifi_config.proto` has the same encoding, without the Thread members.
public struct NetworkConfigPayload: WireMessage {
    /// A message's payload.
    public enum Payload: Sendable, Equatable {
        /// Asks for the board's progress in joining.
        case commandGetWiFiStatus
        /// The answer to ``commandGetWiFiStatus``.
        case responseGetWiFiStatus(WiFiStatusResponse)
        /// Sends the board a Wi-Fi network.
        case commandSetWiFiConfig(SetWiFiConfigCommand)
        /// The answer to ``commandSetWiFiConfig``.
        case responseSetWiFiConfig(StatusResponse)
        /// Tells the board to join the Wi-Fi network that it received.
        case commandApplyWiFiConfig
        /// The answer to ``commandApplyWiFiConfig``.
        case responseApplyWiFiConfig(StatusResponse)
        /// Asks for the board's progress in attaching.
        case commandGetThreadStatus
        /// The answer to ``commandGetThreadStatus``.
        case responseGetThreadStatus(ThreadStatusResponse)
        /// Sends the board a Thread network.
        case commandSetThreadConfig(SetThreadConfigCommand)
        /// The answer to ``commandSetThreadConfig``.
        case responseSetThreadConfig(StatusResponse)
        /// Tells the board to attach to the Thread network that it received.
        case commandApplyThreadConfig
        /// The answer to ``commandApplyThreadConfig``.
        case responseApplyThreadConfig(StatusResponse)
    }

    /// The message's type.
    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Asks for the board's progress in joining.
        public static let commandGetWiFiStatus = MessageType(rawValue: 0)
        /// The answer to ``commandGetWiFiStatus``.
        public static let responseGetWiFiStatus = MessageType(rawValue: 1)
        /// Sends the board a Wi-Fi network.
        public static let commandSetWiFiConfig = MessageType(rawValue: 2)
        /// The answer to ``commandSetWiFiConfig``.
        public static let responseSetWiFiConfig = MessageType(rawValue: 3)
        /// Tells the board to join the Wi-Fi network that it received.
        public static let commandApplyWiFiConfig = MessageType(rawValue: 4)
        /// The answer to ``commandApplyWiFiConfig``.
        public static let responseApplyWiFiConfig = MessageType(rawValue: 5)
        /// Asks for the board's progress in attaching.
        public static let commandGetThreadStatus = MessageType(rawValue: 6)
        /// The answer to ``commandGetThreadStatus``.
        public static let responseGetThreadStatus = MessageType(rawValue: 7)
        /// Sends the board a Thread network.
        public static let commandSetThreadConfig = MessageType(rawValue: 8)
        /// The answer to ``commandSetThreadConfig``.
        public static let responseSetThreadConfig = MessageType(rawValue: 9)
        /// Tells the board to attach to the Thread network that it received.
        public static let commandApplyThreadConfig = MessageType(rawValue: 10)
        /// The answer to ``commandApplyThreadConfig``.
        public static let responseApplyThreadConfig = MessageType(rawValue: 11)
    }

    /// The message's type. Firmware accepts some requests with the type alone, without their empty member.
    public var message: MessageType
    /// The message's payload; nil if it has none, or one that this version does not know.
    public var payload: Payload?

    public init() {
        message = MessageType(rawValue: 0)
        payload = nil
    }

    /// Sets the message type and the member.
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

/// The network that the board is to join. The board keeps it in memory until it is applied.
public struct SetWiFiConfigCommand: WireMessage {
    /// Up to 32 bytes of any value: an SSID is not text.
    public var ssid: [UInt8]
    /// Up to 63 bytes; empty for an open network.
    public var passphrase: [UInt8]
    /// Empty or 6 bytes. Firmware accepts it and does not use it.
    public var bssid: [UInt8]
    /// Firmware accepts it and does not use it.
    public var channel: Int32

    public init() { self.init(ssid: []) }

    public init(ssid: [UInt8] = [], passphrase: [UInt8] = [], bssid: [UInt8] = [], channel: Int32 = 0) {
        self.ssid = ssid
        self.passphrase = passphrase
        self.bssid = bssid
        self.channel = channel
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: ssid = try reader.byteString()
        case 2: passphrase = try reader.byteString()
        case 3: bssid = try reader.byteString()
        case 4: channel = try reader.int32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(ssid, field: 1)
        writer.byteString(passphrase, field: 2)
        writer.byteString(bssid, field: 3)
        writer.int32(channel, field: 4)
    }
}

/// The progress of the board's attempt to join a network.
///
/// A board reports ``WiFiStationState/connecting`` before any attempt. After a reset it repeats the failure of the previous attempt until
/// new credentials are applied.
public struct WiFiStatusResponse: WireMessage {
    /// Details of a state.
    public enum Detail: Sendable, Equatable {
        /// Why the board could not join.
        case failed(WiFiConnectFailure)
        /// The network that the board has joined.
        case connected(WiFiConnection)
        /// One attempt failed, and the board continues.
        case attemptFailed(WiFiAttemptFailed)
    }

    /// Whether the board could answer.
    public var status: Status
    /// The board's progress.
    public var state: WiFiStationState
    /// Details of the state, if there are any.
    public var detail: Detail?

    public init() { self.init(state: WiFiStationState(rawValue: 0)) }

    public init(status: Status = .success, state: WiFiStationState, detail: Detail? = nil) {
        self.status = status
        self.state = state
        self.detail = detail
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, detail) {
        case (1, _): status = try reader.enumeration(Status.self)
        case (2, _): state = try reader.enumeration(WiFiStationState.self)
        case (10, _): detail = .failed(try reader.enumeration(WiFiConnectFailure.self))
        case (11, .connected(let earlier)?): detail = .connected(try reader.member(earlier))
        case (11, _): detail = .connected(try reader.member())
        case (12, .attemptFailed(let earlier)?): detail = .attemptFailed(try reader.member(earlier))
        case (12, _): detail = .attemptFailed(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        writer.enumeration(state, field: 2)
        switch detail {
        case .failed(let reason): writer.int32InOneof(reason.rawValue, field: 10)
        case .connected(let inner): writer.message(inner, field: 11)
        case .attemptFailed(let inner): writer.message(inner, field: 12)
        case nil: break
        }
    }
}

/// `WifiStationState`.
public struct WiFiStationState: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The board has joined its network.
    public static let connected = WiFiStationState(rawValue: 0)
    /// The board is trying to join, or has not begun.
    public static let connecting = WiFiStationState(rawValue: 1)
    /// Never sent by current firmware.
    public static let disconnected = WiFiStationState(rawValue: 2)
    /// The board could not join; the detail says why.
    public static let connectionFailed = WiFiStationState(rawValue: 3)
}

/// `WifiConnectFailedReason`.
public struct WiFiConnectFailure: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The access point did not accept the password.
    public static let authenticationError = WiFiConnectFailure(rawValue: 0)
    /// The board cannot find the network.
    public static let networkNotFound = WiFiConnectFailure(rawValue: 1)
}

/// The access point that the board is connected to, and the board's address (`WifiConnectedState`).
public struct WiFiConnection: WireMessage {
    /// Dotted decimal, ASCII.
    public var ip4Address: [UInt8]
    /// How the network is protected.
    public var authentication: WiFiAuthentication
    /// The network's name, any bytes.
    public var ssid: [UInt8]
    /// 6 bytes, copied as a C string: bytes after a 00 byte are not reliable.
    public var bssid: [UInt8]
    /// The radio channel.
    public var channel: Int32

    public init() { self.init(ip4Address: []) }

    public init(
        ip4Address: [UInt8] = [], authentication: WiFiAuthentication = .open, ssid: [UInt8] = [], bssid: [UInt8] = [],
        channel: Int32 = 0
    ) {
        self.ip4Address = ip4Address
        self.authentication = authentication
        self.ssid = ssid
        self.bssid = bssid
        self.channel = channel
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: ip4Address = try reader.byteString()
        case 2: authentication = try reader.enumeration(WiFiAuthentication.self)
        case 3: ssid = try reader.byteString()
        case 4: bssid = try reader.byteString()
        case 5: channel = try reader.int32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(ip4Address, field: 1)
        writer.enumeration(authentication, field: 2)
        writer.byteString(ssid, field: 3)
        writer.byteString(bssid, field: 4)
        writer.int32(channel, field: 5)
    }
}

/// One of several attempts failed, and the board tries again by itself (ESP-IDF 5.5, network_provisioning).
public struct WiFiAttemptFailed: WireMessage {
    /// How many more times the board will try.
    public var attemptsRemaining: UInt32

    public init() { self.init(attemptsRemaining: 0) }

    public init(attemptsRemaining: UInt32 = 0) {
        self.attemptsRemaining = attemptsRemaining
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: attemptsRemaining = try reader.uint32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.uint32(attemptsRemaining, field: 1)
    }
}

/// `WifiAuthMode`. Firmware copies ESP-IDF's `wifi_auth_mode_t`, so values beyond those of the schema (0 to 7) do appear.
public struct WiFiAuthentication: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No password.
    public static let open = WiFiAuthentication(rawValue: 0)
    /// WEP.
    public static let wep = WiFiAuthentication(rawValue: 1)
    /// WPA-Personal.
    public static let wpaPSK = WiFiAuthentication(rawValue: 2)
    /// WPA2-Personal.
    public static let wpa2PSK = WiFiAuthentication(rawValue: 3)
    /// WPA- and WPA2-Personal.
    public static let wpaWPA2PSK = WiFiAuthentication(rawValue: 4)
    /// WPA2-Enterprise.
    public static let wpa2Enterprise = WiFiAuthentication(rawValue: 5)
    /// WPA3-Personal.
    public static let wpa3PSK = WiFiAuthentication(rawValue: 6)
    /// WPA2- and WPA3-Personal.
    public static let wpa2WPA3PSK = WiFiAuthentication(rawValue: 7)
    /// WAPI with a password.
    public static let wapiPSK = WiFiAuthentication(rawValue: 8)
    /// Opportunistic wireless encryption: encrypted, without a passphrase.
    public static let owe = WiFiAuthentication(rawValue: 9)
    /// WPA3-Enterprise with 192 bits.
    public static let wpa3Enterprise192 = WiFiAuthentication(rawValue: 10)
    /// Device Provisioning Protocol (Wi-Fi Easy Connect).
    public static let dpp = WiFiAuthentication(rawValue: 13)
    /// WPA3-Enterprise.
    public static let wpa3Enterprise = WiFiAuthentication(rawValue: 14)
    /// WPA2- and WPA3-Enterprise.
    public static let wpa2WPA3Enterprise = WiFiAuthentication(rawValue: 15)
    /// WPA-Enterprise.
    public static let wpaEnterprise = WiFiAuthentication(rawValue: 16)
}

/// The Thread network that the board is to join.
public struct SetThreadConfigCommand: WireMessage {
    /// The active operational dataset as TLVs, up to 254 bytes.
    public var dataset: [UInt8]

    public init() { self.init(dataset: []) }

    public init(dataset: [UInt8] = []) {
        self.dataset = dataset
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: dataset = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(dataset, field: 1)
    }
}

/// The Thread network that the board is attached to (`ThreadAttachState`).
public struct ThreadAttachment: WireMessage {
    /// 16 bits.
    public var panID: UInt32
    /// 8 bytes.
    public var extendedPANID: [UInt8]
    /// The radio channel.
    public var channel: UInt32
    /// UTF-8.
    public var name: [UInt8]

    public init() { self.init(panID: 0) }

    public init(panID: UInt32 = 0, extendedPANID: [UInt8] = [], channel: UInt32 = 0, name: [UInt8] = []) {
        self.panID = panID
        self.extendedPANID = extendedPANID
        self.channel = channel
        self.name = name
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: panID = try reader.uint32()
        case 2: extendedPANID = try reader.byteString()
        case 3: channel = try reader.uint32()
        case 4: name = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.uint32(panID, field: 1)
        writer.byteString(extendedPANID, field: 2)
        writer.uint32(channel, field: 3)
        writer.byteString(name, field: 4)
    }
}

/// The progress of the board's attempt to join a Thread network.
public struct ThreadStatusResponse: WireMessage {
    /// Details of a state.
    public enum Detail: Sendable, Equatable {
        /// Why the board could not attach.
        case failed(ThreadAttachFailure)
        /// The network that the board is attached to.
        case attached(ThreadAttachment)
    }

    /// Whether the board could answer.
    public var status: Status
    /// The board's progress.
    public var state: ThreadNetworkState
    /// Details of the state, if there are any.
    public var detail: Detail?

    public init() { self.init(state: ThreadNetworkState(rawValue: 0)) }

    public init(status: Status = .success, state: ThreadNetworkState, detail: Detail? = nil) {
        self.status = status
        self.state = state
        self.detail = detail
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, detail) {
        case (1, _): status = try reader.enumeration(Status.self)
        case (2, _): state = try reader.enumeration(ThreadNetworkState.self)
        case (10, _): detail = .failed(try reader.enumeration(ThreadAttachFailure.self))
        case (11, .attached(let earlier)?): detail = .attached(try reader.member(earlier))
        case (11, _): detail = .attached(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        writer.enumeration(state, field: 2)
        switch detail {
        case .failed(let reason): writer.int32InOneof(reason.rawValue, field: 10)
        case .attached(let inner): writer.message(inner, field: 11)
        case nil: break
        }
    }
}

/// `ThreadNetworkState`.
public struct ThreadNetworkState: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The board is attached.
    public static let attached = ThreadNetworkState(rawValue: 0)
    /// The board is trying to attach.
    public static let attaching = ThreadNetworkState(rawValue: 1)
    /// The board is not attached.
    public static let detached = ThreadNetworkState(rawValue: 2)
    /// The board could not attach; the detail says why.
    public static let attachingFailed = ThreadNetworkState(rawValue: 3)
}

/// `ThreadAttachFailedReason`.
public struct ThreadAttachFailure: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The operational dataset is not valid.
    public static let datasetInvalid = ThreadAttachFailure(rawValue: 0)
    /// The board cannot find the network.
    public static let networkNotFound = ThreadAttachFailure(rawValue: 1)
}
