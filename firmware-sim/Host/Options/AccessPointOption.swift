// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DeviceCore
import ProtocommCore
import RainJSON

/// `--ap JSON`: one network in every detail. Keys: `ssid_hex` or `ssid`, `bssid` (12 hex digits, colons allowed),
/// `channel` (a byte, as the Wi-Fi driver has it), `rssi`, `auth` (a number, any), `passphrase`, `hidden`.
struct AccessPointOption: ExpressibleByArgument {
    var accessPoint: SimulatedAccessPoint

    init?(argument: String) {
        guard let json = try? JSONValue(parsing: Array(argument.utf8)), json.members != nil else { return nil }
        let ssid: [UInt8]
        if let hex = json["ssid_hex"]?.string {
            guard let bytes = bytes(hex: hex) else { return nil }
            ssid = bytes
        } else {
            ssid = Array((json["ssid"]?.string ?? "").utf8)
        }
        let digits = (json["bssid"]?.string ?? "02:11:22:33:44:AA").filter { $0 != ":" }
        guard ssid.count <= 32, let bssid = bytes(hex: digits), bssid.count == 6 else { return nil }
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

/// The bytes that hex digits spell; nil for anything else.
func bytes(hex text: String) -> [UInt8]? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func hexDigits(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}
