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
