// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ESPProvisioning
import Protocomm
import ProtocommCore
import RainCore
import RainKitTesting
import Synchronization
import Testing

/// How often a board is asked while it joins, and what is reported meanwhile.
@Suite("Watching a board join")
struct StatusPollTests {
    private let home = try! WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("correct horse"))

    @Test("it is asked once in the second in which firmware leaves its radio alone, and then soon")
    func firstSecond() async throws {
        let firmware = try FirmwareInMemory(joinDelay: 1400)
        let board = try await firmware.securedBoard()
        try await firmware.clock.run { try await board.join(home) }
        let before = firmware.asked.count
        let began = firmware.clock.now.offset
        let polls = Mutex<[Duration]>([])
        firmware.whenAsked { polls.withLock { $0.append(firmware.clock.now.offset - began) } }
        _ = try await firmware.clock.run { try await board.watch { _ in } }
        #expect(firmware.asked.count > before)
        let all = polls.withLock { $0 }
        #expect(all.filter { $0 < .seconds(1) } == [.zero], "\(all)")
        #expect(all.first { $0 >= .seconds(1) } == .seconds(1), "\(all)")
        #expect(all.last.map { $0 < .milliseconds(1600) } == true, "\(all)")
    }

    /// A board that joins, and answers each request for its state in that way.
    private func failure(_ state: @escaping @Sendable () -> [UInt8]) async throws -> BoardError? {
        let firmware = ScriptedFirmware { request, endpoint in
            guard endpoint == .config, let asked = try? NetworkConfigPayload(decoding: request) else { return nil }
            return switch asked.payload {
            case .commandSetWiFiConfig?: NetworkConfigPayload(.responseSetWiFiConfig(StatusResponse())).encoded()
            case .commandApplyWiFiConfig?: NetworkConfigPayload(.responseApplyWiFiConfig(StatusResponse())).encoded()
            default: state()
            }
        }
        let clock = ManualClock()
        let board = firmware.board(clock: clock)
        _ = try await board.identify()
        try await board.secure()
        let home = home
        return await #expect(throws: BoardError.self) {
            try await clock.run {
                try await board.join(home)
                _ = try await board.watch { _ in }
            }
        }
    }

    static let faulty: [(answer: [UInt8], title: String)] = [
        (
            NetworkConfigPayload(.responseGetWiFiStatus(WiFiStatusResponse(status: .internalError, state: .connecting)))
                .encoded(), "status 5 (internal error)"
        ),
        ([0xFF, 0xFF, 0xFF], "a message that cannot be read"),
        (
            NetworkConfigPayload(.responseApplyWiFiConfig(StatusResponse())).encoded(), "a message that cannot be read"
        ),
    ]

    @Test("a board whose answers about its state are faulty is not said to be silent", arguments: faulty)
    func faultyState(answer: [UInt8], title: String) async throws {
        let error = try await failure { answer }
        #expect(error?.code == .deviceLost && error?.faultyAnswer == title)
        #expect(
            error?.message.hasPrefix("The board answered each request for its Wi-Fi state with \(title),") == true,
            "\(error?.message ?? "")")
        #expect(error?.message.contains("may be online anyway") == true)
    }

    @Test("an unknown reason is named")
    func unknownReason() async throws {
        let error = try await failure {
            let failed = WiFiStatusResponse(
                state: .connectionFailed, detail: .failed(WiFiConnectFailure(rawValue: 9)))
            return NetworkConfigPayload(.responseGetWiFiStatus(failed)).encoded()
        }
        #expect(error?.code == .wifiFailed)
        #expect(error?.message.contains("reported the unknown reason 9.") == true, "\(error?.message ?? "")")
    }

    @Test("a lost connection is reported once, and once more when it is back")
    func lost() async throws {
        let firmware = try FirmwareInMemory(joinDelay: 60_000)
        // Version, two of the handshake, Set, Apply; status; three without success; and back, with a new session.
        let board = try await firmware.securedBoard { exchange, _ in
            (6...8).contains(exchange) || exchange > 20 ? .fail(.unreachable) : nil
        }
        let heard = Mutex<[WiFiProgress]>([])
        let error = await #expect(throws: BoardError.self) {
            try await firmware.clock.run {
                try await board.join(home)
                _ = try await board.watch { progress in heard.withLock { $0.append(progress) } }
            }
        }
        #expect(error?.code == .deviceLost)
        #expect(heard.withLock { $0 } == [.connecting, .unreachable, .connecting, .unreachable])
    }
}
