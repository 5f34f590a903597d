// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DeviceCore
import ProtocommCore
import Testing

@testable import firmware_sim

@Suite("A board's GATT service")
struct GATTApplicationTests {
    @Test("each endpoint has a characteristic with its id in the service's UUID, and handles in order")
    func layout() {
        let application = GATTApplication(endpoints: [
            .control, .scan, .session, .config, .version, .challengeResponse, .claim,
        ])
        #expect(
            application.characteristics.map { String($0.uuid.prefix(8)) } == [
                "021aff4f", "021aff50", "021aff51", "021aff52", "021aff53", "021aff54", "021aff55",
            ])
        #expect(application.characteristics[2].uuid == "021aff51-0382-4aea-bff4-6b3f1c5adfb4")
        #expect(application.characteristics.map(\.handle) == [0x0D, 0x10, 0x13, 0x16, 0x19, 0x1C, 0x1F])
        #expect(application.characteristics.allSatisfy { $0.descriptorHandle == $0.handle + 2 })
        #expect(application.characteristics[5].userDescription == Array("ch_resp".utf8))
    }

    @Test("the firmware that a stale cache remembers lacks what this one added")
    func otherFirmware() {
        let rainMaker = GATTApplication(endpoints: [.control, .scan, .session, .config, .version, .userMapping])
        #expect(rainMaker.withoutApplication.characteristics.map(\.endpoint).last == .version)
        let plain = GATTApplication(endpoints: [.control, .scan, .session, .config, .version])
        #expect(plain.withoutApplication.characteristics.map(\.endpoint) == [.scan, .session, .config, .version])
    }
}

@Suite("The value behind a characteristic")
struct GATTValuesTests {
    @Test("the answer of a handler is there for every read until the next write")
    func answer() throws {
        var values = GATTValues(stack: .nimble)
        #expect(try values.read(0, offset: 0) == [])
        #expect(values.verdict(onWriting: [1], offset: 0) == nil)
        #expect(values.take(.reply([7, 8, 9]), at: 0) == .acknowledged)
        #expect(try values.read(0, offset: 0) == [7, 8, 9])
        #expect(try values.read(0, offset: 2) == [9])
        #expect(try values.read(0, offset: 3) == [])
        #expect(throws: ATTError.invalidOffset) { try values.read(0, offset: 4) }
        #expect(try values.read(1, offset: 0) == [], "another characteristic has its own")
        values.clear()
        #expect(try values.read(0, offset: 0) == [])
    }

    @Test("an empty write is acknowledged, and the answer before stays")
    func emptyWrite() throws {
        var values = GATTValues(stack: .nimble)
        _ = values.take(.reply([5]), at: 0)
        #expect(values.verdict(onWriting: [], offset: 0) == .acknowledged)
        #expect(try values.read(0, offset: 0) == [5])
    }

    @Test(
        "values are limited either way",
        arguments: [(GATTStack.nimble, Int?.none, 512), (.bluedroid, nil, 481), (.bluedroid, 257, 257)])
    func limits(stack: GATTStack, given: Int?, limit: Int) {
        var values = GATTValues(stack: stack, limit: given)
        let tooLong = GATTWriteOutcome.refused(.invalidValueLength, closesLink: false)
        #expect(values.verdict(onWriting: [UInt8](repeating: 1, count: limit), offset: 0) == nil)
        #expect(values.verdict(onWriting: [UInt8](repeating: 1, count: limit + 1), offset: 0) == tooLong)
        #expect(values.take(.reply([UInt8](repeating: 1, count: limit)), at: 0) == .acknowledged)
        #expect(values.take(.reply([UInt8](repeating: 1, count: limit + 1)), at: 0) == tooLong)
    }

    @Test("a handler that fails is 0x04 on NimBLE, and 0x85 and the end of the link on Bluedroid")
    func refusals() {
        var nimble = GATTValues(stack: .nimble)
        #expect(nimble.take(.refused, at: 0) == .refused(ATTError(code: 0x04), closesLink: false))
        var bluedroid = GATTValues(stack: .bluedroid)
        #expect(bluedroid.take(.refused, at: 0) == .refused(ATTError(code: 0x85), closesLink: true))
    }
}

@Suite("A board's GATT server")
struct GATTServerTests {
    private func server(_ arguments: [String] = []) throws -> GATTServer {
        let simulator = try FirmwareSim.parse(["--ble", "--security", "0", "--seed", "3"] + arguments)
        return GATTServer(board: try simulator.makeBoards(Journal(path: nil))[0])
    }

    private func index(_ endpoint: Endpoint, _ server: GATTServer) throws -> Int {
        try #require(server.application.characteristics.firstIndex { $0.endpoint == endpoint })
    }

    @Test("a write runs the handler, and the read after it has the answer, as long as the link is up")
    func exchange() throws {
        let server = try server()
        let version = try index(.version, server)
        #expect(server.write([0x2D], to: version) == .refused(.unlikely, closesLink: false), "no link yet")
        server.connected()
        #expect(server.write([0x2D], to: version) == .acknowledged)
        #expect(String(decoding: try server.read(version), as: UTF8.self).contains("netprov-v1.2"))
        server.disconnected("test")
        #expect(throws: ATTError.self) { try server.read(version) }
        server.connected()
        #expect(try server.read(version) == [])
    }

    @Test("each link has its own session")
    func sessions() throws {
        let server = try server()
        server.connected()
        server.disconnected("test")
        var opened = 0
        server.board.observe { if $0 == .sessionOpened { opened += 1 } }
        server.connected()
        #expect(server.write([0x2D], to: try index(.version, server)) == .acknowledged)
        #expect(opened == 1)
    }

    @Test("a blocking scan holds the write until it is over")
    func blockingScan() async throws {
        let server = try server(["--wifi", "Home:password", "--channel-delay", "0"])
        let scan = try index(.scan, server)
        server.connected()
        let start = NetworkScanPayload(
            .commandScanWiFiStart(ScanWiFiStartCommand(isBlocking: true, groupChannels: 5)))
        #expect(server.write(start.encoded(), to: scan) == .later)
        #expect(server.delayedOutcome() == nil)
        #expect(server.write([0x2D], to: 0) == .refused(.unlikely, closesLink: false), "one at a time")
        var outcome: GATTWriteOutcome?
        let end = ContinuousClock.now + .seconds(300)
        while outcome == nil, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
            server.board.wake(now: MonotonicClock.now)
            outcome = server.delayedOutcome()
        }
        #expect(outcome == .acknowledged)
        #expect(try server.read(scan).isEmpty == false)
    }
}
