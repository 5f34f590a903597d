// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import Protocomm
import ProtocommCore
import RainCore
import RainCryptoOpenSSL
import RainKitTesting
import Synchronization
import Testing

/// The messages for a cable that loses bytes. The board is blamed only without evidence of lost bytes.
@Suite("Characters that get lost on the cable", .timeLimit(.minutes(10)))
struct LostCharactersTests {
    /// A console whose answers are the given texts in turn. Without texts it never answers, and its echo has no end.
    private struct Console: Transport {
        let peer = "/dev/ttyUSB0"
        let mayGarbleAnswers = true
        let answers: [String]
        private let turn = TurnCounter()

        init(_ answers: [String]) { self.answers = answers }

        func maximumRequestLength(on endpoint: Endpoint) -> Int? { nil }

        func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(BoardError) -> [UInt8] {
            if !answers.isEmpty { return Array(answers[turn.next() % answers.count].utf8) }
            try? await Task.sleep(for: .seconds(3600))
            throw BoardError(
                .cancelled, endpoint: endpoint, peer: peer, message: BoardError.lostCharacters,
                reason: BoardError.answerCut)
        }

        func close() async {}
    }

    private final class TurnCounter: Sendable {
        private let count = Mutex(0)
        func next() -> Int {
            count.withLock { count in
                defer { count += 1 }
                return count
            }
        }
    }

    private func failure(_ answers: [String]) async -> BoardError? {
        let board = ProtocommBoard(
            transport: Console(answers), credentials: BoardCredentials { ProofOfPossession("abcd1234") },
            suite: OpenSSLCrypto.self, random: OpenSSLRandom(), clock: ManualClock(), logger: Logger(label: "test"))
        do {
            _ = try await board.identify()
            return nil
        } catch {
            return error
        }
    }

    @Test("are the cause if the version information is unreadable in different ways")
    func versionInformation() async {
        let error = await failure([#"{"prov":{"ver":"v1.1""#, #"{"prov"{"ver":"v1.1"}}"#])
        #expect(error?.code == .malformed && error?.message == BoardError.lostCharacters, "\(error as Any)")
    }

    @Test("are not the cause if the firmware always sends the same text")
    func otherText() async {
        let error = await failure(["hello"])
        #expect(error?.code == .malformed && error?.isAboutLostCharacters == false, "\(error as Any)")
    }

    @Test("are the cause if an answer is missing after a part of the echo arrived")
    func missingAnswer() async {
        let clock = ManualClock()
        let session = ProtocommSession(transport: Console([]), clock: clock)
        let question = Task { () -> BoardError? in
            do throws(BoardError) {
                _ = try await session.versionInfo()
                return nil
            } catch {
                return error
            }
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        let error = await question.value
        #expect(error?.code == .neverAnswered && error?.message == BoardError.lostCharacters, "\(error as Any)")
    }
}
