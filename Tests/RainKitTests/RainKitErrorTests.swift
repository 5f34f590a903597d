// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainMaker
import Testing

@testable import RainKit

@Suite("The error of the client")
struct RainKitErrorTests {
    @Test("the step of a run decides where the cause alone does not")
    func steps() {
        let refusal = AccountError(.rejected, message: "no")
        #expect(RainKitError(refusal).code == .other)
        #expect(RainKitError(refusal, step: .confirm).code == .mappingFailed)
        #expect(RainKitError(refusal, step: .claim).code == .claimNeeded)
        // A network fault stays one in every step.
        let outage = AccountError(.network, message: "down")
        #expect(RainKitError(outage, step: .claim).code == .temporary && RainKitError(outage).isTransient)
        let board = BoardError(.rejected, message: "no")
        #expect(RainKitError(board).code == .other && RainKitError(board, step: .claim).code == .claimNeeded)
    }

    @Test("reasons are the side's own, in snake case")
    func reasons() {
        #expect(RainKitError(AccountError(.notSignedIn, message: "")).reason == "not_signed_in")
        #expect(
            RainKitError(BoardError(.wrongProofOfPossession, message: "")).reason == "wrong_proof_of_possession")
        let named = BoardError(.unavailable, message: "", reason: "no_port")
        #expect(RainKitError(named).reason == "no_port" && RainKitError(named).code == .unavailable)
        let value = ParameterError(.outOfBounds, message: "too much")
        #expect(RainKitError(value, at: "Lamp").reason == "out_of_bounds")
        #expect(RainKitError(value, at: "Lamp").message == "Lamp: too much")
    }

    @Test("a sentence that begins with a user's word keeps its spelling")
    func sentence() {
        let cloud = RainKitError(AccountError(.network, message: "the cloud cannot be reached"))
        #expect(cloud.sentence == "The cloud cannot be reached.")
        #expect(RainKitError.usage("lamp is offline.").sentence == "lamp is offline.")
        let days = #expect(throws: RainKitError.self) { try ScheduleTime(at: "7:30", days: "evry") }
        #expect(days?.sentence.hasPrefix("\"evry\" is not a list of days") == true)
    }

    @Test("a cancelled side is a cancelled call")
    func cancelled() {
        for error in [
            RainKitError(AccountError(.cancelled, message: "")),
            RainKitError(BoardError(.cancelled, message: "")),
            RainKitError(wrapping: CancellationError()),
        ] {
            guard case .cancelled = error.cause else {
                Issue.record("\(error.cause)")
                continue
            }
            #expect(error.code == .cancelled && error.reason == "cancelled")
        }
    }

    @Test("an error of either side is wrapped as what it is")
    func wrapping() {
        let account: any Error = AccountError(.network, message: "down")
        #expect(RainKitError(wrapping: account).account?.code == .network)
        let board: any Error = BoardError(.busy, message: "busy")
        #expect(RainKitError(wrapping: board).board?.code == .busy)
        #expect(RainKitError(wrapping: RainKitError(.deadline, message: "late")).code == .deadline)
    }

    @Test(
        "an exchange's error that a board of another program passes on gets a documented code, and its own words as the cause"
    )
    func exchange() {
        var error = BoardError(.timeout, peer: "lamp", message: "No answer.")
        #expect("\(error)" == "timeout: No answer. (lamp)")
        error.hasAnswered = true
        let board = RainKitError(error).board
        #expect(board?.code == .deviceLost && board?.cause == "\(error)")
        #expect(RainKitError(error).code == .deviceLost && RainKitError(error).reason == "device_lost")
        // A board's own error stays as it is.
        let busy = BoardError(.busy, message: "busy", cause: "why")
        #expect("\(busy)" == "busy: busy [why]" && RainKitError(busy).board?.cause == "why")
    }

    @Test("advice is a sentence without any program's options")
    func advice() {
        let error = RainKitError(
            AccountError(.missingParameter, message: "x", remedies: [.baseURL, .clientID]))
        #expect(error.advice == "Give the base URL of the service, or give the client id.")
        #expect(RainKitError(.deadline, step: .secure, message: "late").remedies == [.moreTime])
        #expect(RainKitError(.notReported, message: "x").advice.isEmpty)
    }
}
