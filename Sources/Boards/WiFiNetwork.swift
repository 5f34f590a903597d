// SPDX-License-Identifier: Apache-2.0
import Protocomm
import RainCore

/// A network to join. Its name is bytes, not text; an open network has an empty passphrase.
public struct WiFiNetwork: Sendable {
    /// The network's name, of 1 to 32 bytes.
    public let ssid: SSID
    /// At most 63 bytes, or the key itself as 64 hexadecimal digits, which few boards accept (``isKey``); empty for an open network.
    public let passphrase: Secret

    /// Throws `invalidArgument` for values that no board accepts: a name of 0 or more than 32 bytes, a passphrase over 63 bytes that is not
    /// a key.
    public init(ssid: SSID, passphrase: Secret) throws(BoardError) {
        guard (1...32).contains(ssid.bytes.count) else {
            throw BoardError(
                .invalidArgument, message: "A network name has 1 to 32 bytes, but this one has \(ssid.bytes.count).")
        }
        guard passphrase.count <= 63 || passphrase.isKey else {
            let remark = passphrase.remark(as: "Wi-Fi password").map { " \($0)" } ?? ""
            throw BoardError(
                .invalidArgument,
                message: "A Wi-Fi password has at most 63 bytes, and this one has \(passphrase.count).\(remark)")
        }
        self.ssid = ssid
        self.passphrase = passphrase
    }
}

extension WiFiNetwork {
    /// Whether ``passphrase`` is the network's key itself in 64 hexadecimal digits (IEEE 802.11, J.4.1).
    public var isKey: Bool { passphrase.isKey }

    /// Throws `invalidArgument` for a key if the board accepts only passphrases, as boards with protocomm do (`char password[64]`).
    package func checkIsPassphrase() throws(BoardError) {
        guard isKey else { return }
        throw BoardError(
            .invalidArgument,
            message:
                "This board does not accept a Wi-Fi key of 64 hexadecimal digits. Give the password from which the key was made; it has "
                + "8 to 63 bytes.",
            reason: "key_not_taken")
    }
}

extension Secret {
    fileprivate var isKey: Bool {
        count == 64
            && reveal { bytes in
                bytes.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0 & 0xDF) && $0 > 0x40 }
            }
    }
}

extension WiFiNetwork {
    /// A network whose name and passphrase are text. An open one has an empty passphrase.
    public init(_ name: String, passphrase: String) throws(BoardError) {
        try self.init(ssid: SSID(name), passphrase: Secret(passphrase))
    }
}

/// A network's name: up to 32 bytes with any values (IEEE 802.11, 9.4.2.2).
public struct SSID: Hashable, Sendable, CustomStringConvertible {
    /// The name as it is sent, in any encoding. ``WiFiNetwork`` checks its length.
    public let bytes: [UInt8]
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    /// A name given as text, which is sent as UTF-8.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// The name for a terminal: printable UTF-8 as it is, all other bytes as `\xNN`, a backslash doubled.
    public var description: String {
        if let text = String(validating: bytes, as: UTF8.self),
            text.unicodeScalars.allSatisfy({ $0.properties.isPrintable })
        {
            // A backslash and a following combining mark are one character.
            var doubled = ""
            for scalar in text.unicodeScalars {
                if scalar == "\\" { doubled.unicodeScalars.append(scalar) }
                doubled.unicodeScalars.append(scalar)
            }
            return doubled
        }
        var escaped = ""
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\\"): escaped += "\\\\"
            case 0x20..<0x7F: escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default: escaped += "\\x" + Hex.text([byte])
            }
        }
        return escaped
    }

    /// The bytes as lowercase hexadecimal, two digits each, without separators.
    public var hex: String { Hex.text(bytes) }
}

extension Unicode.Scalar.Properties {
    fileprivate var isPrintable: Bool {
        switch generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}

extension WiFiNetwork {
    /// One sentence about a possible mistake in the passphrase, for the error of a board that could not join; nil if nothing looks wrong.
    public var remark: String? {
        passphrase.isEmpty
            ? "The board tried the network without a password. Give the password if the network has one."
            : passphrase.remark(as: "Wi-Fi password") ?? tooShortForWPA
    }

    /// The sentence about a passphrase that no WPA network has (IEEE 802.11, J.4.1); nil for any other. A key of WEP may be as short.
    fileprivate var tooShortForWPA: String? {
        (1..<8).contains(passphrase.count)
            ? "A WPA password has at least 8 characters, and this one has \(passphrase.count)." : nil
    }
}

extension SSID {
    /// One sentence about a possible mistake in the name, such as a blank at its end. Nil if nothing looks wrong, or if the name is not
    /// UTF-8, because such a name was given as bytes.
    var remark: String? {
        String(validating: bytes, as: UTF8.self) == nil ? nil : Secret(bytes).remark(as: "network name")
    }
}

extension BoardError {
    /// The error for a board that joins another kind of network.
    package static func joinsThread(_ peer: String) -> BoardError {
        BoardError(
            .unsupported,
            message:
                "The board at \(peer) joins a Thread network, not Wi-Fi. RainKit provisions boards only for Wi-Fi.")
    }

    /// The error for a board that cannot find the network's name.
    package static func notHeard(_ ssid: SSID?) -> BoardError {
        let network = ssid.map { "the network \"\($0)\"" } ?? "that network"
        return BoardError(
            .wifiNetworkNotFound,
            message: "The board cannot find \(network). Check the name. The network must be on 2.4 GHz and in range.")
    }

    /// Adds a remark about a possible mistake in the given network to the error: about its name if the board cannot find it, otherwise
    /// about its passphrase.
    package func remarking(on network: WiFiNetwork?) -> BoardError {
        guard let network else { return self }
        var error = self
        if code == .wifiNetworkNotFound {
            error.message = message.because(of: network.ssid.remark)
        } else if network.passphrase.isEmpty {
            if let remark = network.remark { error.message += " \(remark)" }
        } else {
            error.message = message.because(of: network.remark)
        }
        return error
    }

    /// Returns the cause of a board's failure to join, from the networks that it receives; returns this error if they explain nothing.
    package func explained(by heard: [AccessPoint], joining network: WiFiNetwork) -> BoardError {
        let protections = heard.filter { $0.ssid == network.ssid }.map(\.protection)
        guard !protections.isEmpty else {
            return code == .wifiNetworkNotFound ? suggesting(Set(heard.map(\.ssid)), insteadOf: network.ssid) : self
        }
        if protections.allSatisfy(\.isEnterprise) {
            return BoardError(
                .wifiAuthenticationFailed,
                message:
                    "The network \"\(network.ssid)\" is an enterprise network, which requires a user name or a certificate. Boards join "
                    + "only with a "
                    + "password. Choose another network.", cause: message, reason: "enterprise_network")
        }
        if network.passphrase.isEmpty, !protections.contains(where: \.isOpen) {
            return BoardError(
                .wifiAuthenticationFailed,
                message: "The network \"\(network.ssid)\" has a password, but the board received none.",
                cause: message,
                reason: "password_missing", remedies: [.networkPassword])
        }
        if !network.passphrase.isEmpty, protections.allSatisfy(\.isOpen) {
            return BoardError(
                .wifiAuthenticationFailed,
                message: "The network \"\(network.ssid)\" has no password, but the board received one.",
                cause: message,
                reason: "network_is_open", remedies: [.openNetwork])
        }
        if let sentence = network.tooShortForWPA, protections.allSatisfy(\.hasPassphrase) {
            return BoardError(
                .wifiAuthenticationFailed,
                message: "\(sentence) Check the password of the network \"\(network.ssid)\".", cause: message)
        }
        return self
    }
}

extension BoardError {
    /// Returns the error with the names that differ from the given one only in capitals, white space, quotation marks or dashes.
    fileprivate func suggesting(_ heard: Set<SSID>, insteadOf ssid: SSID) -> BoardError {
        guard let wanted = ssid.likeness else { return self }
        let similar = heard.filter { $0 != ssid && $0.likeness == wanted }.map { "\"\($0)\"" }.sorted().prefix(3)
        guard !similar.isEmpty else { return self }
        var error = self
        error.cause = error.cause ?? message
        error.message =
            "The board cannot find the network \"\(ssid)\", but it finds \(similar.joined(separator: " and ")). Did you mean this network? "
            + "Give its name exactly, with its capital letters, spaces and apostrophes."
        return error
    }
}

extension SSID {
    /// The name without the differences that people overlook; nil if it is not UTF-8, or empty.
    fileprivate var likeness: String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var plain = ""
        for character in text.lowercased() where !character.isWhitespace {
            switch character {
            case "\u{2018}", "\u{2019}", "\u{B4}", "\u{60}": plain.append("'")
            case "\u{201C}", "\u{201D}": plain.append("\"")
            case "\u{2010}", "\u{2011}", "\u{2012}", "\u{2013}", "\u{2014}": plain.append("-")
            default: plain.append(character)
            }
        }
        return plain.isEmpty ? nil : plain
    }
}

/// One entry of a board's scan.
public struct AccessPoint: Sendable, Equatable {
    /// Empty for a hidden network.
    public var ssid: SSID
    /// The access point's MAC address as the board reports it: at most 6 bytes, in their written order.
    public var bssid: [UInt8]
    /// The number of the radio channel, such as 1 to 13 in the 2.4 GHz band.
    public var channel: Int
    /// Signal strength in dBm.
    public var rssi: Int
    /// How the network is protected; ``NetworkProtection/isOpen`` is true if it needs no passphrase.
    public var protection: NetworkProtection

    public init(ssid: SSID, bssid: [UInt8], channel: Int, rssi: Int, protection: NetworkProtection) {
        self.ssid = ssid
        self.bssid = bssid
        self.channel = channel
        self.rssi = rssi
        self.protection = protection
    }
}

extension [AccessPoint] {
    /// Whether the board may receive more networks than it lists, including strong ones. Firmware keeps 16 unless it is built for more
    /// (`CONFIG_NETWORK_PROV_SCAN_MAX_ENTRIES`), and the networks of the last scanned channel replace others, whatever their strength.
    public var mayLackNetworks: Bool { count == Self.usualMaximum }

    private static var usualMaximum: Int { 16 }
}

/// A network's protection: ESP-IDF's `wifi_auth_mode_t`, which firmware passes on unfiltered.
public struct NetworkProtection: Sendable, Hashable, CustomStringConvertible {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// No protection: no passphrase, and nothing is encrypted (`WIFI_AUTH_OPEN`).
    public static let open = NetworkProtection(rawValue: 0)
    /// Whether it needs no passphrase: open, or encrypted by OWE.
    public var isOpen: Bool { rawValue == 0 || rawValue == 9 }

    /// Whether it requires the name or the certificate of a user (IEEE 802.1X).
    public var isEnterprise: Bool { [5, 10, 14, 15, 16].contains(rawValue) }

    /// Whether it uses a passphrase of WPA, which has at least 8 characters.
    fileprivate var hasPassphrase: Bool { [2, 3, 4, 6, 7].contains(rawValue) }

    private static let names = [
        "open", "wep", "wpa_psk", "wpa2_psk", "wpa_wpa2_psk", "wpa2_enterprise", "wpa3_psk", "wpa2_wpa3_psk",
        "wapi_psk",
        "owe", "wpa3_enterprise_192", "reserved_11", "reserved_12", "dpp", "wpa3_enterprise", "wpa2_wpa3_enterprise",
        "wpa_enterprise",
    ]

    public var description: String {
        Self.names.indices.contains(rawValue) ? Self.names[rawValue] : "unknown_\(rawValue)"
    }
}
