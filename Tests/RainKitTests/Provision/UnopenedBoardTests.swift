// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainKit
import Synchronization
import Testing

@Suite("Boards that a run opens")
struct UnopenedBoardTests {
    private let board = UntouchedBoard()

    private func run(_ unopened: UnopenedBoard, waits: Bool = false) async -> RainKitError? {
        let onboarder = Onboarder(
            board: unopened, cloud: nil, logger: Logger(label: "test"),
            randomBytes: { [UInt8](repeating: 7, count: $0) })
        let request = OnboardingRequest(network: .none, mapsToUser: false, waitsForBoard: waits)
        do throws(RainKitError) {
            _ = try await onboarder.run(request) { _ in }
            return nil
        } catch {
            return error
        }
    }

    @Test("the run closes the board that it has opened")
    func opened() async {
        let board = board
        let error = await run(UnopenedBoard(peer: "port") { () async throws(BoardError) in board })
        #expect(error?.step == .identify && error?.board?.code == .unavailable)
        #expect(await board.isClosed)
    }

    @Test("a board that is absent is opened again, if the run waits for it")
    func absent() async {
        let attempts = Mutex(0)
        let unopened = UnopenedBoard(peer: "port") { () async throws(BoardError) in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            throw BoardError(attempt < 3 ? .unavailable : .rejected, message: "Not open.")
        }
        #expect(await run(unopened, waits: true)?.board?.code == .rejected)
        #expect(attempts.withLock { $0 } == 3)
    }

    @Test("nothing is opened if nobody is signed in")
    func notSignedIn() async {
        let isOpened = Atomic(false)
        let unopened = UnopenedBoard(peer: "port") { () async throws(BoardError) in
            isOpened.store(true, ordering: .relaxed)
            throw BoardError(.unavailable, message: "Not open.")
        }
        let error = await #expect(throws: RainKitError.self) {
            try await RainKitClient(.inMemory()).provision(unopened, OnboardingRequest(network: .none))
        }
        #expect(error?.step == .account && !isOpened.load(ordering: .relaxed))
    }
}
