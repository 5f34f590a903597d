// SPDX-License-Identifier: Apache-2.0
@testable import ESPProvisioning
import Logging
import RainCore
import RainIO
import RainKitTesting
import TestSupport
import Testing

@Suite("A board on a console that is still at what an earlier run gave it", .timeLimit(.minutes(10)))
struct EarlierAttemptTests {
    @Test("is asked again while its log speaks of it, for a while after it failed, and no longer")
    func patience() {
        var attempt = EarlierAttempt(since: .seconds(10))
        #expect(attempt.isWorthWaiting(at: .seconds(49)) && !attempt.isWorthWaiting(at: .seconds(51)))
        #expect(attempt.take(.disconnected(reason: 2), at: .seconds(49)) == nil)
        #expect(attempt.isWorthWaiting(at: .seconds(80)))
        #expect(attempt.take(.authenticationFailed, at: .seconds(80)) == .failed)
        #expect(attempt.isWorthWaiting(at: .seconds(85)) && !attempt.isWorthWaiting(at: .seconds(87)))
        #expect(attempt.take(.associated(Array("Home".utf8)), at: .seconds(85)) == nil)
        let place = JoinedNetwork(address: "10.0.0.2", ssid: SSID("Home"))
        #expect(attempt.take(.gotAddress("10.0.0.2"), at: .seconds(86)) == .arrived(place))
    }

    @Test(
        "the driver's line names the network",
        arguments: [
            ("I (4712) wifi:connected with Home, aid = 1, channel 6, BW20, bssid = 02:11:22:33:44:55", "Home"),
            ("I (4712) wifi: connected with a, aid = 2, aid = 1, channel 6", "a, aid = 2"),
        ])
    func network(line: String, name: String) {
        var log = BoardLog()
        #expect(log.event(in: Array(line.utf8)) == .associated(Array(name.utf8)))
    }

    /// On a clock that a test moves.
    private func board(_ firmware: StockFirmware, _ clock: ManualClock) throws -> RainMakerConsoleBoard {
        RainMakerConsoleBoard(
            console: CommandConsole(port: try SerialPort.open(firmware.console.terminal.path), clock: clock),
            clock: clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// What `body` throws, while pauses pass as soon as the board does nothing but pause. The deadlines of its commands never come.
    private func failure(_ clock: ManualClock, of body: Task<Void, any Error>) async -> BoardError? {
        let pauses = Task {
            while !Task.isCancelled {
                if clock.sleeperCount == 1, let next = clock.nextDeadline, clock.now.duration(to: next) <= .seconds(2) {
                    clock.advance(by: clock.now.duration(to: next))
                }
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        defer { pauses.cancel() }
        return await #expect(throws: BoardError.self) { try await body.value }
    }

    @Test(
        "is distinguished from one that has failed and accepts nothing: a rejection, once its log is silent after that")
    func failed() async throws {
        let firmware = try StockFirmware(
            settings: "E (9) wifi_prov_mgr: Wi-Fi credentials already received by provisioning app\r\n")
        let clock = ManualClock()
        let board = try board(firmware, clock)
        let home = try WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("planted-passphrase"))
        let joining = Task { try await board.join(home) }
        func attempts() -> Int { firmware.typed.count { $0.hasPrefix("wifi-prov") } }
        while attempts() < 1 { try await Task.sleep(for: .milliseconds(1)) }
        await firmware.log("E (12) wifi_prov_mgr: STA Auth Error")
        // That ends the pause, without any time.
        while attempts() < 2 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(clock.now.offset == .zero)
        let error = await failure(clock, of: joining)
        #expect(error?.code == .rejected)
        #expect(error?.message.contains("reset-to-factory") == true)
        let waited = clock.now.offset
        #expect(
            waited >= EarlierAttempt.patienceAfterFailure && waited < EarlierAttempt.patienceAfterFailure + .seconds(3))
        await board.close()
    }

    @Test("that brought it to its network ends its provisioning, which leaves the cloud to tell")
    func ended() async throws {
        let firmware = try StockFirmware(
            settings: "E (9) wifi_prov_mgr: Wi-Fi credentials already received by provisioning app\r\n",
            later: "E (9) wifi_prov_mgr: Invalid state of Provisioning app\r\n")
        let clock = ManualClock()
        let board = try board(firmware, clock)
        let home = try WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("planted-passphrase"))
        let error = await failure(clock, of: Task { try await board.join(home) })
        #expect(error?.code == .mayBeJoining)
        await board.close()
    }
}
