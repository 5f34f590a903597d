// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import ProtocommCore
import RainCore
import Testing

@Suite("A board that signs no challenge any more")
struct DisabledChallengeTests {
    @Test("reports it, and is not confused with one that refuses this user")
    func disabled() async throws {
        let firmware = ScriptedFirmware { _, endpoint in
            guard endpoint == .challengeResponse else { return nil }
            return ChallengeResponsePayload(.responseChallengeResponse(ChallengeResponse()), status: .disabled)
                .encoded()
        }
        let board = firmware.board()
        _ = try await board.identify()
        try await board.secure()
        let error = await #expect(throws: BoardError.self) {
            try await board.associate(.challenge(Array("challenge".utf8)))
        }
        #expect(error?.code == .rejected && error?.reason == "challenge_disabled")
        #expect(error?.message.contains("factory settings") == true)
    }
}
