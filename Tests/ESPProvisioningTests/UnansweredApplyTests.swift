// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Protocomm
import ProtocommCore
import RainCore
import RainKitTesting
import Synchronization
import Testing

@Suite("An Apply that nobody answers")
struct UnansweredApplyTests {
    private let home = try! WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("correct horse"))
    /// The version, two of the handshake, what is set, and what is applied.
    private static let apply = 4

    @Test(
        "leaves open whether the board took it, so it is asked again over a new session, and joins",
        arguments: [InMemoryTransport.Fault.loseAnswer, .loseRequest, .refuse, .fail(.lost), .truncateAnswer(3)])
    func askedAgain(fault: InMemoryTransport.Fault) async throws {
        let firmware = try FirmwareInMemory()
        let board = try await firmware.securedBoard { exchange, _ in exchange == Self.apply ? fault : nil }
        let joined = try await firmware.clock.run { () async throws in
            try await board.join(home)
            return try await board.watch { _ in }
        }
        #expect(joined.ssid == SSID("Home"))
        #expect(firmware.clock.now.offset < .seconds(13), "\(firmware.clock.now.offset)")
    }

    @Test(
        "and that is out of reach from then on, may be joining",
        arguments: [InMemoryTransport.Fault.loseAnswer, .fail(.unreachable)])
    func leftForItsNetwork(fault: InMemoryTransport.Fault) async throws {
        let firmware = try FirmwareInMemory()
        let board = try await firmware.securedBoard { exchange, _ in
            exchange < Self.apply ? nil : exchange == Self.apply ? fault : .fail(.unreachable)
        }
        let error = await #expect(throws: BoardError.self) {
            try await firmware.clock.run { try await board.join(home) }
        }
        #expect(error?.code == .mayBeJoining)
        #expect(error?.message.contains("Look for the board in your account") == true, "\(error?.message ?? "")")
        #expect(firmware.clock.now.offset < .seconds(30), "\(firmware.clock.now.offset)")
    }

    @Test("is a rejection if the board accepts the question again and refuses again")
    func refusedTwice() async throws {
        let firmware = try FirmwareInMemory()
        // And again after set, with a handshake of two in between.
        let board = try await firmware.securedBoard { exchange, _ in
            [Self.apply, Self.apply + 4].contains(exchange) ? .refuse : nil
        }
        let error = await #expect(throws: BoardError.self) {
            try await firmware.clock.run { try await board.join(home) }
        }
        #expect(error?.code == .rejected)
    }

    @Test(
        "if the answer to settings is lost, they are sent again in a new session, because they have no effect before an Apply",
        arguments: [InMemoryTransport.Fault.loseAnswer, .loseRequest, .refuse, .fail(.lost)],
        [SecurityVersion.security0, .security1, .security2])
    func settingsAgain(fault: InMemoryTransport.Fault, security: SecurityVersion) async throws {
        let firmware = try FirmwareInMemory(security: security)
        // The first two requests for it, with a handshake in between.
        let asked = Mutex(0)
        let board = try await firmware.securedBoard { _, endpoint in
            guard endpoint == .config else { return nil }
            return asked.withLock { count in
                count += 1
                return count <= 2
            } ? fault : nil
        }
        let joined = try await firmware.clock.run { () async throws in
            try await board.join(home)
            return try await board.watch { _ in }
        }
        #expect(joined.ssid == SSID("Home"))
        #expect(firmware.clock.now.offset < .seconds(15), "\(firmware.clock.now.offset)")
    }

    @Test(
        "settings that never arrive end with a lost board",
        arguments: [InMemoryTransport.Fault.loseRequest, .loseAnswer, .refuse, .fail(.lost), .fail(.unreachable)])
    func lostBefore(fault: InMemoryTransport.Fault) async throws {
        let firmware = try FirmwareInMemory()
        let board = try await firmware.securedBoard { exchange, _ in exchange >= Self.apply - 1 ? fault : nil }
        let error = await #expect(throws: BoardError.self) {
            try await firmware.clock.run { try await board.join(home) }
        }
        #expect(error?.code == .deviceLost, "\(String(describing: error))")
    }

    @Test("and whose link cannot be made again is looked for no longer than that, whatever the transport would take")
    func linkGone() async throws {
        let clock = ManualClock()
        let firmware = ScriptedFirmware { _, _ in
            NetworkConfigPayload(.responseSetWiFiConfig(StatusResponse())).encoded()
        }
        // The version, the session and what is set come before; from then on nothing arrives.
        let board = firmware.board(
            clock: clock, deadlines: ExchangeDeadlines(handshake: .seconds(46), exchange: .seconds(41)),
            restoresLinks: true
        ) { exchange, _ in exchange < 3 ? nil : exchange == 3 ? .fail(.lost) : .loseRequest }
        _ = try await board.identify()
        try await board.secure()
        let error = await #expect(throws: BoardError.self) { try await clock.run { try await board.join(home) } }
        #expect(error?.code == .mayBeJoining)
        #expect(clock.now.offset < .seconds(15), "\(clock.now.offset)")
    }

    @Test("a board that an earlier run sent on its way is followed", arguments: [0, 600])
    func onItsWay(milliseconds: Int) async throws {
        let firmware = try FirmwareInMemory()
        try await firmware.securedBoard().join(home)
        firmware.clock.advance(by: .milliseconds(milliseconds))
        let again = try await firmware.securedBoard()
        let joined = try await firmware.clock.run { () async throws in
            try await again.join(home)
            return try await again.watch { _ in }
        }
        #expect(joined.ssid == SSID("Home"))
    }

    @Test("unless it is to another network than the one that is asked for")
    func onItsWayElsewhere() async throws {
        let firmware = try FirmwareInMemory()
        try await firmware.securedBoard().join(home)
        let again = try await firmware.securedBoard()
        let error = await #expect(throws: BoardError.self) {
            try await firmware.clock.run {
                try await again.join(try WiFiNetwork(ssid: SSID("Other"), passphrase: Secret("correct horse")))
                _ = try await again.watch { _ in }
            }
        }
        #expect(error?.code == .rejected)
        #expect(error?.message.contains("already on the network Home") == true, "\(error?.message ?? "")")
    }
}
