// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Protocomm
import ProtocommCore
import RainCore
import RainKitTesting
import Testing

@Suite("An answer that cannot be read")
struct UnreadableAnswerTests {
    private let home = try! WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("correct horse"))
    private let mapping = AssociationRequest.userMapping(UserID("user"), MappingSecret(Secret("secret")))

    /// The version, two of the handshake, what is set, what is applied, and the first status; and how many messages of handshakes the
    /// board sees then.
    @Test(
        "of whatever exchange is asked for again, over a new session",
        arguments: zip(0...5, [2, 2, 3, 4, 4, 4]))
    func askedAgain(exchange: Int, handshakes: Int) async throws {
        let firmware = try FirmwareInMemory()
        let board = try await firmware.securedBoard { number, _ in number == exchange ? .fail(.malformed) : nil }
        let joined = try await firmware.clock.run { () async throws in
            try await board.join(home)
            return try await board.watch { _ in }
        }
        #expect(joined.ssid == SSID("Home"))
        #expect(firmware.asked.filter { $0 == .session }.count == handshakes)
    }

    @Test("is not asked for for ever")
    func always() async throws {
        let firmware = try FirmwareInMemory()
        let board = firmware.board { _, _ in .fail(.malformed) }
        let error = await #expect(throws: BoardError.self) { try await board.identify() }
        #expect(error?.code == .malformed)
    }

    @Test("leaves no session to ask on in")
    func outOfStep() async throws {
        let firmware = try FirmwareInMemory()
        let board = try await firmware.securedBoard { number, _ in number == 3 ? .truncateAnswer(1) : nil }
        let error = await #expect(throws: BoardError.self) { try await board.associate(mapping) }
        #expect(error?.code == .malformed)
        #expect(try await board.associate(mapping).nodeID == NodeID("node1"))
    }

    @Test("may be one of a board that is joining", arguments: [2, 3])
    func whileJoining(bytes: Int) async throws {
        let firmware = try FirmwareInMemory()
        let board = try await firmware.securedBoard { number, _ in
            number == 5 || number == 6 ? .truncateAnswer(bytes) : nil
        }
        let joined = try await firmware.clock.run { () async throws in
            try await board.join(home)
            return try await board.watch { _ in }
        }
        #expect(joined.ssid == SSID("Home"))
    }
}
