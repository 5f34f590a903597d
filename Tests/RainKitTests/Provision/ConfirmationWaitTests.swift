// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import Testing

@testable import RainKit

@Suite("How long a run waits for the cloud's confirmation")
struct ConfirmationWaitTests {
    private static let lost = UnansweringBoard(
        error: BoardError(.deviceLost, message: "scripted"), since: .seconds(100))

    @Test("the line about a lost board names its cable if the port is gone")
    func cable() {
        #expect(Self.lost.sentence.hasPrefix("the board stopped answering; "))
        let unplugged = UnansweringBoard(
            error: BoardError(.deviceLost, message: "scripted", reason: BoardError.portGone), since: .zero)
        #expect(unplugged.sentence.contains("check the cable"))
    }

    @Test("a board whose answers are faulty is not said to be silent")
    func faultyAnswers() {
        var error = BoardError(.deviceLost, message: "scripted")
        error.faultyAnswer = "HTTP status 500"
        let board = UnansweringBoard(error: error, since: .zero)
        #expect(board.sentence.hasPrefix("the board does not report its Wi-Fi state; "))
        #expect(board.inAccount.message.contains("with HTTP status 500, and the cloud has not seen it since."))
    }

    @Test("a board that refuses the settings until the time is over is named with its status")
    func occupied() {
        let start = "The board refuses to apply the Wi-Fi settings"
        #expect(RainKitError.occupied(hasStatus: true).message.hasPrefix("\(start) (status 5, internal error)."))
        #expect(RainKitError.occupied(hasStatus: false).message.hasPrefix("\(start). "))
    }

    private static func outage(retryAfter: Duration? = nil) -> AccountError {
        var error = AccountError(.network, message: "scripted")
        error.retryAfter = retryAfter
        return error
    }

    @Test("a present board is waited for without end, and the cloud is asked at once and then more and more rarely")
    func present() throws {
        var wait = ConfirmationWait(lostBoard: nil)
        #expect(try wait.notYet(at: .seconds(1), lastNews: .zero) == .zero)
        var last = Duration.zero
        for second in 0..<1000 {
            let next = try wait.notYet(at: .seconds(second), lastNews: .zero)
            #expect(next >= last && next <= .seconds(2))
            last = next
        }
        #expect(wait.trouble == nil)
    }

    @Test("a lost board has twenty seconds from its loss, from the last news, or from the cloud's return")
    func lostBoard() throws {
        var wait = ConfirmationWait(lostBoard: Self.lost)
        _ = try wait.notYet(at: .seconds(120), lastNews: .zero)
        _ = try wait.notYet(at: .seconds(130), lastNews: .seconds(110))
        #expect(throws: RainKitError.self) { _ = try wait.notYet(at: .seconds(131), lastNews: .seconds(110)) }
        _ = try wait.failed(Self.outage(), at: .seconds(131), quietUntil: .zero)
        wait.reached(at: .seconds(140))
        _ = try wait.notYet(at: .seconds(160), lastNews: .seconds(110))
        #expect(throws: RainKitError.self) { _ = try wait.notYet(at: .seconds(161), lastNews: .seconds(110)) }
    }

    @Test("a cloud that cannot be reached has thirty seconds for each outage, or as long as it asks for")
    func outage() throws {
        var wait = ConfirmationWait(lostBoard: nil)
        #expect(try wait.failed(Self.outage(), at: .seconds(10), quietUntil: .seconds(15)) == .seconds(5))
        #expect(wait.isOut && wait.trouble?.message == "scripted")
        _ = try wait.failed(Self.outage(), at: .seconds(39), quietUntil: .zero)
        wait.reached(at: .seconds(39))
        #expect(!wait.isOut && wait.trouble == nil)
        _ = try wait.failed(Self.outage(), at: .seconds(50), quietUntil: .zero)
        #expect(throws: RainKitError.self) { _ = try wait.failed(Self.outage(), at: .seconds(80), quietUntil: .zero) }
        _ = try wait.failed(Self.outage(retryAfter: .seconds(60)), at: .seconds(80), quietUntil: .zero)
    }

    @Test("when the time is over, an unknown state is reported, until the cloud reports another one")
    func unknownState() throws {
        var wait = ConfirmationWait(
            onlineSince: .zero, notReported: RainKitError(.notReported, message: "not reported"))
        wait.unknownState = "done"
        #expect(wait.trouble?.message.contains(#"reports the unknown state "done""#) == true)
        let error = #expect(throws: RainKitError.self) { _ = try wait.notYet(at: .seconds(100_000), lastNews: .zero) }
        #expect(error?.message.hasPrefix(#"The cloud reports the unknown state "done" for the mapping."#) == true)
        #expect(error?.message.hasSuffix("not reported") == true)
        wait.unknownState = nil
        #expect(wait.trouble == nil)
    }

    @Test("when the time is over, a lost board is reported rather than an absent cloud")
    func reason() throws {
        var wait = ConfirmationWait(lostBoard: Self.lost)
        _ = try wait.failed(Self.outage(), at: .seconds(100), quietUntil: .zero)
        guard case .board? = wait.trouble?.cause else {
            return #expect(Bool(false), "\(String(describing: wait.trouble))")
        }
    }
}
