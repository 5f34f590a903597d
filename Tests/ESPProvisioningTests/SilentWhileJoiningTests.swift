// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Protocomm
import ProtocommCore
import RainCore
import RainKitTesting
import Testing

@Suite("A board that is silent when the time is over", .timeLimit(.minutes(10)))
struct SilentWhileJoiningTests {
    private let home = try! WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("correct horse"))

    /// What the error of a wait says that is given up after that time.
    private func unfinished(
        after limit: Duration, _ clock: ManualClock, _ wait: @escaping @Sendable () async throws -> Void
    ) async throws -> String? {
        try await clock.run {
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await wait() }
                    group.addTask {
                        try await clock.sleep(for: limit)
                        throw CancellationError()
                    }
                    defer { group.cancelAll() }
                    do { try await group.next() } catch is CancellationError {}
                    group.cancelAll()
                    try await group.next()
                }
                return nil
            } catch {
                return (error as? BoardError)?.unfinished
            }
        }
    }

    @Test("is not said to be joining", arguments: [3, 5])
    func silent(exchange: Int) async throws {
        let firmware = try FirmwareInMemory()
        // The version and two of the handshake come before; then what is set, what is applied, and its status.
        let board = try await firmware.securedBoard { number, _ in number >= exchange ? .loseRequest : nil }
        let home = home
        let words = try await unfinished(after: .seconds(8), firmware.clock) {
            try await board.join(home)
            _ = try await board.watch { _ in }
        }
        #expect(
            words?.hasSuffix("has not answered since it received its Wi-Fi settings") == true, "\(words ?? "nil")")
    }

    @Test("unlike one that goes on answering")
    func answering() async throws {
        let firmware = ScriptedFirmware { request, endpoint in
            guard endpoint == .config, let asked = try? NetworkConfigPayload(decoding: request) else { return nil }
            return switch asked.payload {
            case .commandSetWiFiConfig?: NetworkConfigPayload(.responseSetWiFiConfig(StatusResponse())).encoded()
            case .commandApplyWiFiConfig?: NetworkConfigPayload(.responseApplyWiFiConfig(StatusResponse())).encoded()
            default: NetworkConfigPayload(.responseGetWiFiStatus(WiFiStatusResponse(state: .connecting))).encoded()
            }
        }
        let clock = ManualClock()
        let board = firmware.board(clock: clock)
        _ = try await board.identify()
        try await board.secure()
        let home = home
        let words = try await unfinished(after: .seconds(8), clock) {
            try await board.join(home)
            _ = try await board.watch { _ in }
        }
        #expect(words == nil)
    }
}
