// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A network to join. Its name is bytes, not text; an open network has an empty passphrase.
public struct WiFiNetwork: Sendable {
    /// The network's name, of 1 to 32 bytes.
    public let ssid: SSID
    /// At most 63 bytes; empty for an open network.
    public let passphrase: Secret

    /// Throws `invalidArgument` for what firmware refuses: a name of 0 or more than 32 bytes, a passphrase over 63.
    public init(ssid: SSID, passphrase: Secret) throws(ProvisioningError) {
        guard (1...32).contains(ssid.bytes.count) else {
            throw ProvisioningError(
                .invalidArgument, message: "A network name has 1 to 32 bytes, this one has \(ssid.bytes.count).")
        }
        guard passphrase.count <= 63 else {
            throw ProvisioningError(
                .invalidArgument,
                message: "A passphrase has at most 63 bytes; boards do not take the 64-digit form of the key.")
        }
        self.ssid = ssid
        self.passphrase = passphrase
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
            return text.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
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
