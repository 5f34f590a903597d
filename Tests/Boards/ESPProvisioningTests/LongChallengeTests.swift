// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import ProtocommWire
import Testing
import RainCore

@Suite("A message that the transport cannot carry")
struct LongChallengeTests {
    @Test(
        "is not the user's fault: another transport may carry it",
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
        let error = await #expect(throws: ProvisioningError.self) { try await board.associate(request) }
        #expect(error?.code == .unsupported)
        #expect(error?.remedies == [.otherTransport])
        #expect(firmware.asked == [.version, .session])
    }
}
