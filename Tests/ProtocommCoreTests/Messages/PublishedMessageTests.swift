// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import TestSupport
import Testing

/// Plain messages that the official Python client and the C firmware exchanged when the published vectors were made.
@Suite("Published messages")
struct PublishedMessageTests {
    @Test("the requests of the official client are written byte for byte")
    func requests() {
        #expect(NetworkConfigPayload(.commandGetWiFiStatus).encoded() == hex("5200"))
        let start = ScanWiFiStartCommand(isBlocking: true, periodMilliseconds: 120)
        #expect(NetworkScanPayload(.commandScanWiFiStart(start)).encoded() == hex("520408012078"))
        #expect(
            NetworkScanPayload(.commandScanWiFiResult(ScanResultCommand(count: 1))).encoded() == hex("080472021001"))
        let set = SetWiFiConfigCommand(ssid: Array("HomeNet".utf8), passphrase: Array("correct horse".utf8))
        #expect(
            NetworkConfigPayload(.commandSetWiFiConfig(set)).encoded()
                == hex("080262180a07486f6d654e6574120d636f727265637420686f727365"))
    }

    @Test("a request with its message type alone is read, its member absent")
    func requestsWithoutMember() throws {
        let status = try NetworkScanPayload(decoding: hex("0802"))
        #expect(status.message == .commandScanWiFiStatus && status.payload == nil)
        let apply = try NetworkConfigPayload(decoding: hex("0804"))
        #expect(apply.message == .commandApplyWiFiConfig && apply.payload == nil)
    }

    @Test("the answers of the firmware are read, and written byte for byte")
    func responses() throws {
        let connecting = WiFiStatusResponse(state: .connecting)
        #expect(NetworkConfigPayload(.responseGetWiFiStatus(connecting)).encoded() == hex("08015a021001"))
        let progress = ScanStatusResponse(isFinished: true, resultCount: 6)
        #expect(NetworkScanPayload(.responseScanWiFiStatus(progress)).encoded() == hex("08036a0408011006"))
        let found = WiFiScanResult(
            ssid: Array("HomeNet".utf8), channel: 6, rssi: -42, bssid: hex("021122334455"), authentication: .wpa2PSK)
        let page = NetworkScanPayload(.responseScanWiFiResult(ScanWiFiResultResponse([found])))
        let bytes = hex("08057a220a200a07486f6d654e6574100618d6ffffffffffffffff0122060211223344552803")
        #expect(page.encoded() == bytes)
        #expect(try NetworkScanPayload(decoding: bytes) == page)
    }

    @Test("a failure reason inside its oneof is written even when it is zero")
    func failureReason() {
        let failed = WiFiStatusResponse(state: .connectionFailed, detail: .failed(.authenticationError))
        #expect(failed.encoded() == hex("10035000"))
    }
}
