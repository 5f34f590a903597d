// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// The Wi-Fi networks around the board, and the durations of its operations. All times are milliseconds.
public struct SimulatedRadio: Sendable {
    public enum Fault: Sendable, Equatable {
        case none
        /// Every network refuses the passphrase.
        case authentication
        /// No network is found.
        case notFound
        /// Attempts never end.
        case stuck
    }

    public var accessPoints: [SimulatedAccessPoint]
    /// The time from an accepted Apply to the result of one attempt. It includes the firmware's own timer of one second, which lets it send
    /// the answer before the radio changes channels.
    public var joinDelay: UInt64
    /// How long an active scan stays on one channel; a passive one stays three times as long.
    public var channelDelay: UInt64
    public var fault: Fault
    /// The address that the network's DHCP server assigns, as text.
    public var address: [UInt8]

    public init(
        accessPoints: [SimulatedAccessPoint], joinDelay: UInt64 = 400, channelDelay: UInt64 = 30, fault: Fault = .none,
        address: StaticString = "192.168.1.23"
    ) {
        self.accessPoints = accessPoints
        self.joinDelay = joinDelay
        self.channelDelay = channelDelay
        self.fault = fault
        self.address = bytes(address)
    }

    enum Verdict: Equatable {
        case joined(SimulatedAccessPoint)
        case disconnected(DisconnectReason)
        case never
    }

    func verdict(on credentials: WiFiCredentials) -> Verdict {
        switch fault {
        case .authentication: return .disconnected(.fourWayHandshakeTimeout)
        case .notFound: return .disconnected(.noAccessPointFound)
        case .stuck: return .never
        case .none: break
        }
        var verdict = Verdict.disconnected(.noAccessPointFound)
        for accessPoint in accessPoints where accessPoint.ssid == credentials.ssid {
            let isOpen = accessPoint.authentication == .open || accessPoint.authentication == .owe
            if isOpen || accessPoint.passphrase == credentials.passphrase { return .joined(accessPoint) }
            // A station without a passphrase does not even try a protected network.
            verdict = .disconnected(
                credentials.passphrase.isEmpty ? .noCompatibleSecurity : .fourWayHandshakeTimeout)
        }
        return verdict
    }
}

/// Why the Wi-Fi driver gave up, by the driver's number (`wifi_err_reason_t` of ESP-IDF).
public struct DisconnectReason: Sendable, Hashable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let micFailure = DisconnectReason(rawValue: 14)
    public static let fourWayHandshakeTimeout = DisconnectReason(rawValue: 15)
    public static let noAccessPointFound = DisconnectReason(rawValue: 201)
    public static let authenticationFailed = DisconnectReason(rawValue: 202)
    public static let handshakeTimeout = DisconnectReason(rawValue: 204)
    public static let noCompatibleSecurity = DisconnectReason(rawValue: 210)

    /// The provisioning service's failure for it. The service knows five reasons; with any other, the previous failure stays.
    public var failure: WiFiConnectFailure? {
        switch self {
        case .micFailure, .fourWayHandshakeTimeout, .authenticationFailed, .handshakeTimeout: .authenticationError
        case .noAccessPointFound: .networkNotFound
        default: nil
        }
    }
}

/// A network in range of the board.
public struct SimulatedAccessPoint: Sendable, Equatable {
    /// Up to 32 bytes, not necessarily text.
    public var ssid: [UInt8]
    /// Six bytes.
    public var bssid: [UInt8]
    public var channel: UInt32
    /// Signal strength in dBm.
    public var rssi: Int32
    public var authentication: WiFiAuthentication
    /// Empty on an open network.
    public var passphrase: [UInt8]
    /// A hidden network responds to its name, but is not in scan results.
    public var isHidden: Bool

    public init(
        ssid: [UInt8], bssid: [UInt8], channel: UInt32 = 6, rssi: Int32 = -42,
        authentication: WiFiAuthentication = .wpa2PSK, passphrase: [UInt8] = [], isHidden: Bool = false
    ) {
        self.ssid = ssid
        self.bssid = bssid
        self.channel = channel
        self.rssi = rssi
        self.authentication = authentication
        self.passphrase = passphrase
        self.isHidden = isHidden
    }

    /// Returns the networks by strength. Those of the same strength keep their order.
    static func strongestFirst(_ all: [SimulatedAccessPoint]) -> [SimulatedAccessPoint] {
        var sorted: [SimulatedAccessPoint] = []
        for one in all { sorted.insert(one, at: sorted.firstIndex { $0.rssi < one.rssi } ?? sorted.count) }
        return sorted
    }
}

/// The name and passphrase of a network, as the client sent them.
public struct WiFiCredentials: Sendable, Equatable {
    public var ssid: [UInt8]
    public var passphrase: [UInt8]

    public init(ssid: [UInt8], passphrase: [UInt8]) {
        self.ssid = ssid
        self.passphrase = passphrase
    }
}
