// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@Suite("RainKitClient")
struct RainKitClientTests {
    @Test("if nobody is signed in, a board that was opened before is closed")
    func notSignedInWithBoard() async throws {
        let kit = RainKitClient(.inMemory())
        let board = UntouchedBoard()
        let error = await #expect(throws: RainKitError.self) {
            try await kit.provision(board, OnboardingRequest(network: .none))
        }
        #expect(error?.step == .account)
        #expect(await board.isClosed)
    }

    @Test("a folder without an absolute path is refused")
    func relativeFolder() {
        let error = #expect(throws: RainKitError.self) { try RainKitClient(state: "state") }
        #expect(error?.account?.code == .invalidConfiguration)
    }
}
