// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DeviceCore
import ProtocommCore

/// `--wifi SSID:PASS`, split at the first colon; nothing after it is an open network.
struct WiFiOption: ExpressibleByArgument, Equatable {
    var ssid: [UInt8]
    var passphrase: [UInt8]

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        ssid = Array(argument[..<colon].utf8)
        passphrase = Array(argument[argument.index(after: colon)...].utf8)
        guard !ssid.isEmpty, ssid.count <= 32, passphrase.count <= 63 else { return nil }
    }

    /// The network as the board hears it: the first option is the strongest.
    func accessPoint(at index: Int) -> SimulatedAccessPoint {
        let channels: [UInt32] = [6, 1, 11, 3, 9, 13]
        return SimulatedAccessPoint(
            ssid: ssid, bssid: [0x02, 0x11, 0x22, 0x33, 0x44, UInt8(truncatingIfNeeded: 0x55 + index)],
            channel: channels[index % channels.count], rssi: Int32(max(-95, -42 - 6 * index)),
            authentication: passphrase.isEmpty ? .open : .wpa2PSK, passphrase: passphrase)
    }
}
