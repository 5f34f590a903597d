// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import Testing

/// The merge of `update_wifi_scan_results` (network_provisioning 1.2.4), which does not keep the strongest networks.
@Suite("A scan that finds more networks than firmware keeps")
struct FullScanTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The strengths that are heard on each channel.
        var heard: [UInt32: [Int32]]
        var group: UInt32 = 5
        var limit = 16
        var expected: [Int32]
    }

    static let cases = [
        Case(
            testDescription: "the last channel pushes out stronger ones",
            heard: [1: Array(-55 ... -40), 13: [-90, -91, -92]],
            expected: Array((-52 ... -40).reversed()) + [-90, -91, -92]),
        Case(
            testDescription: "the first channel does not", heard: [1: [-90, -91, -92], 13: Array(-52 ... -40)],
            expected: Array((-52 ... -40).reversed()) + [-90, -91, -92]),
        Case(
            testDescription: "a full channel replaces all others",
            heard: [3: [-30, -31], 4: Array(-95 ... -70)], expected: Array((-85 ... -70).reversed())),
        Case(
            testDescription: "all channels at once keep the strongest",
            heard: [1: Array(-55 ... -40), 13: [-90, -91, -92]], group: 0, expected: Array((-55 ... -40).reversed())),
        Case(
            testDescription: "a limit of one keeps the last", heard: [1: [-30], 6: [-40, -35], 11: [-80]], limit: 1,
            expected: [-80]),
        Case(
            testDescription: "what fits is kept", heard: [1: [-60, -40], 6: [-50], 13: [-40]],
            expected: [-40, -40, -50, -60]),
    ]

    @Test("keeps what real firmware keeps", arguments: cases)
    func merge(example: Case) throws {
        let all = example.heard.sorted { $0.key < $1.key }.flatMap { channel, strengths in
            strengths.enumerated().map { index, rssi in
                SimulatedAccessPoint(
                    ssid: Array("net".utf8), bssid: [2, 0, 0, 0, UInt8(channel), UInt8(index)], channel: channel,
                    rssi: rssi)
            }
        }
        var board = Board(
            ProvisioningOptions(scanEntries: example.limit), radio: SimulatedRadio(accessPoints: all, channelDelay: 0))
        _ = board.startScan(group: example.group)
        board.wait(1000)
        let count = try board.scanStatus().resultCount
        #expect(try board.scanResults(from: 0, count: count).map(\.rssi) == example.expected)
    }
}
