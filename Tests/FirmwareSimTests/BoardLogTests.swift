// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import Testing

@testable import firmware_sim

/// By docs/internals/consoles.md, which is the client's source, too.
@Suite("What the board's log says of joining")
struct BoardLogTests {
    /// The lines without colours and times: `E tag: text`, and those that follow in the same call of the log.
    private func lines(_ event: DeviceEvent) -> [String] {
        String(decoding: BoardLog(bootTime: 0).lines(for: event, address: "192.168.1.23"), as: UTF8.self)
            .split(separator: "\r\n").map { line in
                let plain = String(line).replacing(#/\u{1B}\[[0-9;]*m/#, with: "")
                return plain.replacing(#/^([EWI]) \([0-9]+\) /#) { "\($0.output.1) " }
            }
    }

    private static let failed = "E app_wifi: Provisioning failed!"
    private static let hint = "\tPlease reset to factory and retry provisioning"

    @Test("the last attempt: reasons that the manager understands have a verdict", arguments: [14, 15, 202, 204, 201])
    func understood(reason: UInt8) {
        let isNotFound = reason == 201
        #expect(
            lines(.joinFailed(DisconnectReason(rawValue: reason), isNotFound ? .networkNotFound : .authenticationError))
                == [
                    "E network_prov_mgr: STA Disconnected", "E network_prov_mgr: Disconnect reason : \(reason)",
                    "E network_prov_mgr: " + (isNotFound ? "STA AP Not found" : "STA Auth Error"), Self.failed,
                    "\tReason : "
                        + (isNotFound ? "Wi-Fi access-point not found" : "Wi-Fi station authentication failed"),
                    Self.hint,
                ])
    }

    @Test("the last attempt: of any other reason the manager says nothing, and the application repeats an earlier one")
    func notUnderstood() {
        for (stale, text) in [
            (.authenticationError, "Wi-Fi station authentication failed"),
            (.networkNotFound, "Wi-Fi access-point not found"),
        ] as [(WiFiConnectFailure, String)] {
            #expect(
                lines(.joinFailed(.noCompatibleSecurity, stale)) == [
                    "E network_prov_mgr: STA Disconnected", "E network_prov_mgr: Disconnect reason : 210", Self.failed,
                    "\tReason : \(text)", Self.hint,
                ])
        }
    }

    @Test("an attempt with more to follow is counted without a log line; without a count, each reason is logged")
    func moreToFollow() {
        #expect(lines(.attemptFailed(.fourWayHandshakeTimeout, remaining: 2)) == [])
        #expect(
            lines(.attemptFailed(.noCompatibleSecurity, remaining: 0)) == [
                "E network_prov_mgr: STA Disconnected", "E network_prov_mgr: Disconnect reason : 210",
            ])
    }

    @Test("only a board without a provisioning service says that it connects again")
    func provisioned() {
        #expect(
            lines(.disconnected(DisconnectReason(rawValue: 8))).last
                == "I app_wifi: Disconnected. Connecting to the AP again...")
    }

    @Test("an address: the network interface's line first, then the manager's and the application's")
    func joined() {
        #expect(
            lines(.joined(ssid: Array("Net".utf8), channel: 6)).dropFirst() == [
                "I esp_netif_handlers: sta ip: 192.168.1.23, mask: 255.255.255.0, gw: 192.168.1.1",
                "I network_prov_mgr: STA Got IP", "I app_network: Connected with IP Address:192.168.1.23",
                "I app_wifi: Provisioning successful",
            ])
    }

    @Test(
        "the start shows the board's own addresses, and its name has the digits of the address",
        arguments: [BootLogOption.switch, .plain, .ledLight, .older, .wifiProv])
    func addresses(style: BootLogOption) {
        var random = BoardRandom(seed: 1)
        let identity = BoardIdentity(
            name: nil, proofOfPossession: nil, username: "wifiprov", nodeID: nil,
            address: [0x7C, 0xDF, 0xA1, 0x00, 0x00, 0xFF], isClaimed: true, random: &random)
        #expect(identity.name == "PROV_0000ff" && identity.bluetoothAddress == "7C:DF:A1:00:01:01")
        let start = BootLog(
            style: style, identity: identity, qrCode: identity.qrCode(security: 1, transport: "ble"), hasConsole: true,
            isSecurity2: false)
        let text = String(decoding: start.rest(BoardLog(bootTime: 0)), as: UTF8.self)
        #expect(text.contains("mode : sta (7c:df:a1:00:00:ff) + softAP (7c:df:a1:00:01:00)"), "\(text)")
    }

    @Test("a board without a given address has one with the digits of its name")
    func ownAddress() {
        var random = BoardRandom(seed: 7)
        let identity = BoardIdentity(
            name: nil, proofOfPossession: nil, username: "wifiprov", nodeID: nil, isClaimed: true, random: &random)
        #expect(identity.name.lowercased() == "prov_" + identity.macAddress.suffix(6).lowercased())
        #expect(identity.stationAddress.filter { $0 != ":" } == identity.macAddress)
    }
}
