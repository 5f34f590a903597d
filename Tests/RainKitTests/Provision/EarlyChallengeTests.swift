// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainKit
import Testing

/// The challenge that is fetched before a board's own access point is joined, when the cloud does not give one.
@Suite("Onboarder: a challenge that could not be fetched first")
struct EarlyChallengeTests {
    static let request = OnboardingRequest(network: .given(Scene.home), fetchesChallengeFirst: true)

    static let failures: [AccountError.Code] = [
        .unsupported, .rejected, .forbidden, .invalidInput, .malformedAnswer, .serverFault, .network, .timeout, .tls,
    ]

    @Test("a board that signs nothing is set up anyway", arguments: failures)
    func unneeded(code: AccountError.Code) async throws {
        let scene = Scene()
        let cloud = ScriptedCloud(faults: ["challenge": [code]])
        let node = try await scene.run(ScriptedBoard(scene.clock), cloud, Self.request).get()
        #expect(node.mapping == .confirmed)
        #expect(await cloud.calls.prefix(3) == ["user", "challenge", "add"])
    }

    @Test("a board that has to sign one gets nothing, and the error is the cloud's", arguments: failures)
    func refused(code: AccountError.Code) async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, association: .challengeResponse)
        let word = AccountError(code, message: "the cloud's word")
        // The computer has left the internet when it asks again.
        let gone = AccountError(.network, message: "no route to the cloud")
        let cloud = ScriptedCloud(errors: ["challenge": [word, gone]])
        let failure = await scene.run(board, cloud, Self.request).failure
        guard case .account(let cause)? = failure?.cause else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(cause.code == code)
        #expect(failure?.step == .challenge)
        #expect(failure?.message.contains("the cloud's word") == true, "\(failure?.message ?? "")")
        #expect(await board.calls == ["identify", "close"])
    }

    @Test("if the cloud is back by then, the board signs")
    func later() async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock, association: .challengeResponse)
        let cloud = ScriptedCloud(faults: ["challenge": [.serverFault]])
        let node = try await scene.run(board, cloud, Self.request).get()
        #expect(node.mapping == .confirmed)
        #expect(await cloud.calls == ["user", "challenge", "challenge", "verify"])
    }

    @Test(
        "a session that has ended ends the run before the board is contacted",
        arguments: [AccountError.Code.expired, .notSignedIn])
    func ended(code: AccountError.Code) async throws {
        let scene = Scene()
        let board = ScriptedBoard(scene.clock)
        let failure = await scene.run(board, ScriptedCloud(faults: ["challenge": [code]]), Self.request).failure
        #expect(failure?.step == .account)
        #expect(await board.calls == ["close"])
    }
}
