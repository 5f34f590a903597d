// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Protocomm
import ProtocommCore
import RainCore
import RainKitTesting
import Testing

/// A board keeps its user only in memory, until it has reported to its cloud.
@Suite("A board that restarts after it received its user")
struct RestartBeforeJoiningTests {
    private let home = try! WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("correct horse"))
    private let user = AssociationRequest.userMapping(UserID("user"), MappingSecret(Secret("secret")))
    /// The version, two of the handshake, the user; then what is set, and what is applied.
    private static let (set, apply) = (4, 5)

    private func join(
        restartsAt exchange: Int, restoresLinks: Bool
    ) async throws -> FirmwareInMemory {
        let firmware = try FirmwareInMemory()
        let board = try await firmware.securedBoard(restoresLinks: restoresLinks) { number, _ in
            guard number == exchange else { return nil }
            firmware.restart()
            return .fail(.lost)
        }
        _ = try await board.associate(user)
        let joined = try await firmware.clock.run { () async throws in
            try await board.join(home)
            return try await board.watch { _ in }
        }
        #expect(joined.ssid == SSID("Home"))
        return firmware
    }

    @Test("receives its user again before it joins", arguments: [set, apply])
    func toldAgain(exchange: Int) async throws {
        let firmware = try await join(restartsAt: exchange, restoresLinks: true)
        #expect(firmware.reportsMapping)
        #expect(firmware.asked.filter { $0 == .userMapping }.count == 2)
    }

    @Test("so it is where nothing but a new session shows that, over a transport that does not make links again")
    func overHTTP() async throws {
        let firmware = try await join(restartsAt: Self.apply, restoresLinks: false)
        #expect(firmware.reportsMapping)
    }

    @Test("a session that goes on needs no second time")
    func once() async throws {
        let firmware = try await join(restartsAt: 100, restoresLinks: true)
        #expect(firmware.reportsMapping)
        #expect(firmware.asked.filter { $0 == .userMapping }.count == 1)
    }
}
