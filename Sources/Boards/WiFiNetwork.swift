// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A network to join. Its name is bytes, not text; an open network has an empty passphrase.
public struct WiFiNetwork: Sendable {
    /// The network's name, of 1 to 32 bytes.
    public let ssid: SSID
    /// At most 63 bytes, or the key itself as 64 hexadecimal digits, which few boards take (``isKey``); empty for an open network.
    public let passphrase: Secret

    /// Throws `invalidArgument` for what no board takes: a name of 0 or more than 32 bytes, a passphrase over 63 that is not a key.
    public init(ssid: SSID, passphrase: Secret) throws(ProvisioningError) {
        guard (1...32).contains(ssid.bytes.count) else {
            throw ProvisioningError(
                .invalidArgument, message: "A network name has 1 to 32 bytes, this one has \(ssid.bytes.count).")
        }
        guard passphrase.count <= 63 || passphrase.isKey else {
            let remark = passphrase.remark(as: "Wi-Fi password").map { " \($0)" } ?? ""
            throw ProvisioningError(
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

    /// Throws `invalidArgument` for a key where the board takes passphrases alone, as protocomm's do (`char password[64]`).
    package func checkIsPassphrase() throws(ProvisioningError) {
        guard isKey else { return }
        throw ProvisioningError(
            .invalidArgument,
            message:
                "This board takes no Wi-Fi key of 64 hexadecimal digits. Give the password that the key was made of; it has 8 to 63 bytes.",
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
    public init(_ name: String, passphrase: String) throws(ProvisioningError) {
        try self.init(ssid: SSID(name), passphrase: Secret(passphrase))
    }
}

/// A network's name: up to 32 bytes of anything (IEEE 802.11, 9.4.2.2).
public struct SSID: Hashable, Sendable, CustomStringConvertible {
    /// The name as it is sent, in any encoding. Its length is checked by ``WiFiNetwork``, not here.
    public let bytes: [UInt8]
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    /// A name given as text, which is sent as UTF-8.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// Readable and safe on a terminal: printable UTF-8 as it is, every other byte as `\xNN`, a backslash doubled.
    public var description: String {
        if let text = String(validating: bytes, as: UTF8.self),
            text.unicodeScalars.allSatisfy({ $0.properties.isPrintable })
        {
            // A backslash and a combining mark behind it are one character.
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
            default: escaped += (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16)
            }
        }
        return escaped
    }

    /// The bytes as lowercase hexadecimal, two digits each and nothing in between.
    public var hex: String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

extension Unicode.Scalar.Properties {
    fileprivate var isPrintable: Bool {
        switch generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
