// SPDX-License-Identifier: Apache-2.0
import RainKit

/// The networks that a board hears, strongest first.
struct ScanResult: CommandResult {
    let networks: [Network]

    var text: String { networks.map(\.line).joined(separator: "\n") }

    struct Network: Encodable, Sendable {
        /// `null` where the name is not text.
        @NullIfAbsent var ssid: String?
        let ssidHex: String
        let bssid: String
        let channel: Int
        let rssi: Int
        let auth: String
        /// The name as a terminal can show it.
        fileprivate let shown: String

        private enum CodingKeys: String, CodingKey {
            case ssid
            case ssidHex = "ssid_hex"
            case bssid, channel, rssi, auth
        }

        fileprivate var line: String {
            "\(rssi) dBm  ch \(channel)  \(bssid)  \(auth)  \(ssidHex.isEmpty ? "(hidden)" : shown)"
        }
    }
}

extension ScanResult {
    init(_ found: [AccessPoint]) {
        networks = found.map { point in
            Network(
                ssid: NullIfAbsent(wrappedValue: point.ssid.argument), ssidHex: point.ssid.hex,
                bssid: point.bssid.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":"),
                channel: point.channel, rssi: point.rssi, auth: point.protection.description,
                shown: point.ssid.description)
        }
    }
}
