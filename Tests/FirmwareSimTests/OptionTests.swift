// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import Testing

@testable import firmware_sim

@Suite("Options of firmware-sim")
struct OptionTests {
    @Test("networks are split at the first colon, and the first is the strongest")
    func networks() throws {
        let option = try #require(WiFiOption(argument: "Home:pass:word"))
        #expect(option.ssid == Array("Home".utf8) && option.passphrase == Array("pass:word".utf8))
        #expect(try #require(WiFiOption(argument: "Cafe:")).accessPoint(at: 1).authentication.rawValue == 0)
        #expect(option.accessPoint(at: 0).rssi > option.accessPoint(at: 1).rssi)
        #expect(WiFiOption(argument: ":x") == nil)
    }

    @Test("a network can be given in every detail")
    func accessPoint() throws {
        let json =
            #"{"ssid_hex":"fffe","bssid":"02:00:00:00:00:01","channel":13,"rssi":-91,"auth":16,"passphrase":"p"}"#
        let accessPoint = try #require(AccessPointOption(argument: json)).accessPoint
        #expect(accessPoint.ssid == [0xFF, 0xFE] && accessPoint.bssid == [2, 0, 0, 0, 0, 1])
        #expect(accessPoint.channel == 13 && accessPoint.rssi == -91 && accessPoint.authentication.rawValue == 16)
        for bad in [
            #"{"ssid_hex":"f"}"#, #"{"bssid":"02"}"#, #"{"channel":-1}"#, #"{"channel":256}"#,
            #"{"channel":3000000000}"#, "[]", #"{"auth":99999999999}"#,
        ] {
            #expect(AccessPointOption(argument: bad) == nil, "\(bad)")
        }
    }
}
