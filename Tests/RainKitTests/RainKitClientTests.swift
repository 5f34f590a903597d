// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@Suite("RainKitClient")
struct RainKitClientTests {
    @Test("nobody signed in: a board that was opened before is closed")
    func notSignedInWithBoard() async throws {
        let kit = RainKitClient(.inMemory())
        let board = UntouchedBoard()
        let error = await #expect(throws: OnboardingError.self) {
            try await kit.provision(board, OnboardingRequest(network: .none))
        }
        #expect(error?.step == .account)
        #expect(await board.isClosed)
    }

    @Test("a folder that is no absolute path is refused")
    func relativeFolder() {
        let error = #expect(throws: AccountError.self) { try RainKitClient(state: "state") }
        #expect(error?.code == .invalidConfiguration)
    }
}
