// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import ProtocommCore
import RainCore
import Testing

@Suite("A message that the transport cannot carry")
struct LongChallengeTests {
    @Test(
        "is not the user's fault: the board's access point may carry it",
        arguments: [
            AssociationRequest.challenge([UInt8](repeating: 0x61, count: 120)),
            .userMapping(UserID(String(repeating: "u", count: 100)), MappingSecret(Secret("secret-of-the-mapping"))),
        ])
    func tooLong(request: AssociationRequest) async throws {
        let firmware = ScriptedFirmware { _, _ in nil }
        // A line of protocomm's console.
        let board = firmware.board(maximumRequestLength: 117)
        _ = try await board.identify()
        try await board.secure()
        let error = await #expect(throws: BoardError.self) { try await board.associate(request) }
        #expect(error?.code == .unsupported)
        #expect(error?.remedies == [.accessPoint])
        #expect(firmware.asked == [.version, .session])
    }

    @Test(
        "data for an endpoint of the application are too long for a transport that carries less than an access point, or for all",
        arguments: [(117, [Remedy.accessPoint]), (4096, [])])
    func endpoint(limit: Int, remedies: [Remedy]) async throws {
        let firmware = ScriptedFirmware { _, _ in nil }
        let board = firmware.board(maximumRequestLength: limit)
        _ = try await board.identify()
        try await board.secure()
        let error = await #expect(throws: BoardError.self) {
            try await board.send([UInt8](repeating: 0x61, count: limit + 1), to: "custom-data")
        }
        #expect(error?.code == .unsupported && error?.reason == "too_long")
        #expect(error?.remedies == remedies)
        #expect(firmware.asked == [.version, .session])
    }
}
