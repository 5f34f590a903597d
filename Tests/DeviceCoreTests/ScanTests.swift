// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import Testing

@Suite("Scanning")
struct ScanTests {
    @Test("before any scan the scan is finished and empty")
    func beforeAnyScan() throws {
        var board = Board()
        #expect(try board.scanStatus() == ScanStatusResponse(isFinished: true, resultCount: 0))
    }

    @Test("a scan that does not block answers at once and finishes by itself")
    func notBlocking() throws {
        var board = Board()
        #expect(board.startScan() == .reply([0x08, 0x01, 0x5A, 0x00]))
        #expect(try board.scanStatus() == ScanStatusResponse(isFinished: false, resultCount: 0))
        board.wait(13 * 30)
        #expect(try board.scanStatus() == ScanStatusResponse(isFinished: true, resultCount: 6))
    }

    @Test("a blocking scan answers when it is done")
    func blocking() throws {
        var board = Board()
        #expect(board.startScan(blocking: true) == .later)
        #expect(board.core.delayedAnswer(now: board.now + 1) == .later)
        board.wait(13 * 30)
        #expect(board.core.delayedAnswer(now: board.now) == .reply([0x08, 0x01, 0x5A, 0x00]))
        #expect(board.core.delayedAnswer(now: board.now) == .refused)
    }

    @Test("a second start succeeds without effect, and does not wait")
    func secondStart() throws {
        var board = Board()
        _ = board.startScan()
        board.wait(100)
        #expect(board.startScan(blocking: true) == .reply([0x08, 0x01, 0x5A, 0x00]))
        board.wait(13 * 30 - 100)
        #expect(try board.scanStatus().isFinished == true)
    }

    @Test("in groups, results come channel by channel, and the radio pauses between groups")
    func grouped() throws {
        var board = Board()
        _ = board.startScan(group: 5)
        board.wait(30)  // channel 1
        #expect(try board.scanStatus() == ScanStatusResponse(isFinished: false, resultCount: 1))
        board.wait(30)  // channel 2
        #expect(try board.scanStatus() == ScanStatusResponse(isFinished: false, resultCount: 2))
        board.wait(10_000)
        #expect(try board.scanStatus() == ScanStatusResponse(isFinished: true, resultCount: 6))
        #expect(board.core.takeEvents().contains(.scanFinished(count: 6)))
        var counting = Board()
        _ = counting.startScan(group: 5)
        counting.wait(13 * 30 + 2 * 120 - 1)
        #expect(try counting.scanStatus().isFinished == false)
        counting.wait(1)
        #expect(try counting.scanStatus().isFinished == true)
    }

    @Test("results are strongest first; a hidden network has no name; bytes are kept", arguments: [0, 4] as [UInt32])
    func results(group: UInt32) throws {
        var board = Board()
        _ = board.startScan(group: group)
        board.wait(10_000)
        let results = try board.scanResults(from: 0, count: 4) + board.scanResults(from: 4, count: 2)
        #expect(results.map(\.rssi) == [-42, -50, -60, -70, -75, -80])
        #expect(results[4].ssid.isEmpty)
        #expect(results[5].ssid == [0xFF, 0xFE, 0x41])
        #expect(results[3].authentication.rawValue == 16)
        #expect(results.map(\.bssid) == neighbourhood.map(\.bssid))
    }

    @Test("no more than 16 networks are kept")
    func sixteen() throws {
        let crowd = (0..<20).map {
            SimulatedAccessPoint(ssid: Array("net\($0)".utf8), bssid: [2, 0, 0, 0, 0, UInt8($0)], rssi: -90 + $0)
        }
        var board = Board(ProvisioningOptions(), radio: SimulatedRadio(accessPoints: crowd, channelDelay: 0))
        _ = board.startScan()
        #expect(try board.scanStatus() == ScanStatusResponse(isFinished: true, resultCount: 16))
        #expect(try board.scanResults(from: 0, count: 16).map(\.rssi) == Array((-86 ... -71).reversed()))
    }

    @Test(
        "asking beyond the results is a handler error",
        arguments: [(0, 7), (6, 1), (16, 0), (16, 1), (10, 7), (UInt32.max, 1), (0, UInt32.max), (1, UInt32.max)]
            as [(UInt32, UInt32)])
    func paging(start: UInt32, count: UInt32) throws {
        var board = Board()
        _ = board.startScan()
        board.wait(10_000)
        #expect(throws: Refused.self) { try board.scanResults(from: start, count: count) }
    }

    @Test("a count of 0 is answered with no entries, even before any scan")
    func countZero() throws {
        var board = Board()
        #expect(try board.scanResults(from: 3, count: 0).isEmpty)
    }

    @Test("results stay until the next start")
    func resultsStay() throws {
        var board = Board()
        _ = board.startScan()
        board.wait(10_000)
        _ = try board.join("Nowhere")
        board.wait(400)
        #expect(try board.scanResults(from: 0, count: 1).first?.ssid == neighbourhood[0].ssid)
        _ = try board.control(.commandWiFiReset)
        _ = board.startScan()
        #expect(try board.scanStatus().resultCount == 0)
    }

    @Test("a scan after Apply sticks for ever, even through a reset, and a blocking one hangs the server")
    func sticks() throws {
        var board = Board()
        _ = try board.join("Nowhere")
        board.wait(400)
        #expect(board.startScan(blocking: true) == .later)
        board.wait(60_000)
        #expect(board.core.delayedAnswer(now: board.now) == .later)
        #expect(try board.control(.commandWiFiReset) == .success)
        #expect(board.startScan() == .reply([0x08, 0x01, 0x5A, 0x00]))
        board.wait(60_000)
        #expect(try board.scanStatus() == ScanStatusResponse(isFinished: false, resultCount: 0))
    }
}
