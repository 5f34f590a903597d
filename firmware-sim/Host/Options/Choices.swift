// SPDX-License-Identifier: Apache-2.0
import RainCore
import ArgumentParser
import DeviceCore
import ProtocommCore
import RainJSON

enum ConsoleDialect: String, ExpressibleByArgument, CaseIterable {
    /// ESP-IDF's protocomm console.
    case protocomm
    /// The commands of the stock RainMaker examples.
    case rainmaker
    /// Improv, with which a board gets its Wi-Fi settings over a cable.
    case improv
    /// No console: the board prints its log and reads nothing, like stock firmware on the chip's own USB.
    case logOnly = "log-only"
}

/// The board's output at its start.
enum BootLogOption: String, ExpressibleByArgument, CaseIterable {
    /// esp-rainmaker's examples: led_light, which prints the QR code and its address, and switch, which prints the code's text as well.
    case ledLight = "led-light"
    case `switch`
    /// RainMaker's applications from before August 2024, which print the proof of possession in a separate line.
    case older
    /// idf-extra-components' wifi_prov.
    case wifiProv = "wifi-prov"
    /// A board that already has a network.
    case provisioned
    /// Boards that do not start.
    case emptyFlash = "empty-flash"
    case crashLoop = "crash-loop"
    case brownOut = "brown-out"
    case download
    case noApplication = "no-application"
    case wrongChip = "wrong-chip"
    /// Bytes at another speed.
    case unreadable
    /// An application that prints nothing about provisioning.
    case plain
    /// No output.
    case silent

    /// Whether the application starts, and its console with it.
    var comesUp: Bool {
        switch self {
        case .ledLight, .switch, .older, .wifiProv, .provisioned, .plain, .silent: true
        default: false
        }
    }
}

/// The place of other tasks' log lines on the board's console.
enum ConsoleNoise: String, ExpressibleByArgument, CaseIterable {
    case none
    /// Between the lines.
    case between
    /// Also inside an answer that the firmware prints piece by piece.
    case inside
}

enum FaultOption: String, ExpressibleByArgument, CaseIterable {
    case auth
    case notFound = "not-found"
    case stuck
    case none

    var fault: SimulatedRadio.Fault {
        switch self {
        case .auth: .authentication
        case .notFound: .notFound
        case .stuck: .stuck
        case .none: .none
        }
    }
}

enum MappingOption: String, ExpressibleByArgument, CaseIterable {
    case user
    case challengeResponse = "ch-resp"
    case none

    var association: DeviceConfiguration.Association {
        switch self {
        case .user: .userMapping
        case .challengeResponse: .challengeResponse
        case .none: .none
        }
    }
}

enum LogLevel: String, ExpressibleByArgument, CaseIterable, Comparable {
    case error, warning, info, debug

    static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self)! }
}

/// The `HOST:PORT` of an option.
struct BindAddress: ExpressibleByArgument, CustomStringConvertible, Equatable {
    var host: String
    var port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":"), colon > argument.startIndex,
            let port = UInt16(argument[argument.index(after: colon)...])
        else { return nil }
        self.init(host: String(argument[..<colon]), port: port)
    }

    /// Whether the host is an IPv6 address in brackets.
    var isVersion6: Bool { host.hasPrefix("[") && host.hasSuffix("]") }

    var description: String { "\(host):\(port)" }
}

/// `--wifi SSID:PASS`, split at the first colon. Without a password it is an open network.
struct WiFiOption: ExpressibleByArgument, Equatable {
    var ssid: [UInt8]
    var passphrase: [UInt8]

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        ssid = Array(argument[..<colon].utf8)
        passphrase = Array(argument[argument.index(after: colon)...].utf8)
        guard !ssid.isEmpty, ssid.count <= 32, passphrase.count <= 63 else { return nil }
    }

    /// Returns the network as the board receives it: the first option is the strongest.
    func accessPoint(at index: Int) -> SimulatedAccessPoint {
        let channels: [UInt32] = [6, 1, 11, 3, 9, 13]
        return SimulatedAccessPoint(
            ssid: ssid, bssid: [0x02, 0x11, 0x22, 0x33, 0x44, UInt8(truncatingIfNeeded: 0x55 + index)],
            channel: channels[index % channels.count], rssi: Int32(max(-95, -42 - 6 * index)),
            authentication: passphrase.isEmpty ? .open : .wpa2PSK, passphrase: passphrase)
    }
}

/// `--ap JSON`: one network in every detail. Keys: `ssid_hex` or `ssid`, `bssid` (12 hex digits, colons allowed), `channel` (a byte, as in
/// the Wi-Fi driver), `rssi`, `auth` (any number), `passphrase`, `hidden`.
struct AccessPointOption: ExpressibleByArgument {
    var accessPoint: SimulatedAccessPoint

    init?(argument: String) {
        guard let json = try? JSONValue(parsing: Array(argument.utf8)), json.members != nil else { return nil }
        let ssid: [UInt8]
        if let hex = json["ssid_hex"]?.string {
            guard let bytes = Hex.decoded(hex.utf8) else { return nil }
            ssid = bytes
        } else {
            ssid = Array((json["ssid"]?.string ?? "").utf8)
        }
        let digits = (json["bssid"]?.string ?? "02:11:22:33:44:AA").filter { $0 != ":" }
        guard ssid.count <= 32, let bssid = Hex.decoded(digits.utf8), bssid.count == 6 else { return nil }
        let passphrase = Array((json["passphrase"]?.string ?? "").utf8)
        let number = json["auth"]?.integer ?? (passphrase.isEmpty ? 0 : 3)
        guard let authentication = Int32(exactly: number),
            let channel = UInt8(exactly: json["channel"]?.integer ?? 6),
            let rssi = Int32(exactly: json["rssi"]?.integer ?? -60)
        else { return nil }
        accessPoint = SimulatedAccessPoint(
            ssid: ssid, bssid: bssid, channel: UInt32(channel), rssi: rssi,
            authentication: WiFiAuthentication(rawValue: authentication), passphrase: passphrase,
            isHidden: json["hidden"]?.bool ?? ssid.isEmpty)
    }
}

/// Twelve hex digits, with or without colons.
struct MACAddressOption: ExpressibleByArgument {
    /// Six bytes.
    var address: [UInt8]

    init?(argument: String) {
        let digits = Array(argument.utf8.filter { $0 != UInt8(ascii: ":") })
        guard let address = Hex.decoded(digits), address.count == 6 else { return nil }
        self.address = address
    }
}

/// A `--claim-fault`: `KEY` or `KEY=VALUE`.
struct ClaimFaultOption: ExpressibleByArgument {
    var fault: ClaimFault

    private static let steps: [String: ClaimFault.Step] = [
        "start": .start, "init": .initiate, "csr": .request, "verify": .certificate, "store": .lastCertificate,
    ]

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count > 1 ? parts[1] : nil) {
        case ("not-ready", nil): fault = .notReady
        case ("oversize-csr", nil): fault = .oversizeRequest
        case ("wrong-csr", nil): fault = .wrongRequest
        case ("lose-fragment", let number?):
            guard let number = Int(number), (1...1000).contains(number) else { return nil }
            fault = .loseFragment(number)
        case ("reboot-at", let name?):
            guard let step = Self.steps[name] else { return nil }
            fault = .reboot(at: step)
        default: return nil
        }
    }
}
