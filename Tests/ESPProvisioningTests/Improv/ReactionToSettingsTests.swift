// SPDX-License-Identifier: Apache-2.0
import Protocomm
import RainCore
import Testing

@testable import ESPProvisioning

@Suite("A board that does not react to settings by Improv")
struct ReactionToSettingsTests {
    private let ready = ImprovFrame(.state, [ImprovState.ready.rawValue])

    @Test("and reports that it waits for settings did not answer them")
    func waits() {
        var reaction = ReactionToSettings()
        // The report of a state that was not asked for may be older than the settings.
        for _ in 1...5 { #expect(reaction.note(ready, isAsked: false, "tty")?.code == nil) }
        for _ in 2...ReactionToSettings.maximumWaits {
            #expect(reaction.note(ready, isAsked: true, "tty")?.code == nil)
        }
        let error = reaction.note(ready, isAsked: true, "tty")
        #expect(error?.code == .rejected)
        #expect(error?.message.hasPrefix("The board at tty did not answer the Wi-Fi settings") == true)
    }

    @Test("and sends nothing did not answer them")
    func silent() {
        var reaction = ReactionToSettings()
        for _ in 2...ReactionToSettings.maximumSilences {
            #expect(reaction.note(nil, isAsked: true, "tty")?.code == nil)
        }
        let error = reaction.note(nil, isAsked: true, "tty")
        #expect(error?.code == .deviceLost)
        #expect(error?.message.hasPrefix("The board at tty did not answer the Wi-Fi settings.") == true)
    }

    @Test(
        "is not one that has begun to join, or has refused",
        arguments: [
            ImprovFrame(.state, [ImprovState.provisioning.rawValue]), ImprovFrame(.failure, [3]),
            ImprovFrame(.result, [1, 0]),
        ])
    func reacts(frame: ImprovFrame) {
        var reaction = ReactionToSettings()
        #expect(reaction.note(frame, isAsked: false, "tty")?.code == nil)
        for _ in 0...ReactionToSettings.maximumSilences {
            #expect(reaction.note(nil, isAsked: true, "tty")?.code == nil)
        }
        for _ in 0...ReactionToSettings.maximumWaits {
            #expect(reaction.note(ready, isAsked: true, "tty")?.code == nil)
        }
        #expect(reaction.unfinished(BoardError(.cancelled, message: ""), "tty").unfinished == nil)
    }

    @Test("when the time is over, the missing answer is the reason")
    func unfinished() {
        let reaction = ReactionToSettings()
        let late = reaction.unfinished(BoardError(.cancelled, message: ""), "tty")
        #expect(late.unfinished == "the board at tty has not answered the Wi-Fi settings")
    }

    @Test("a board whose firmware lacks RainMaker's service is only put on Wi-Fi", arguments: [true, false])
    func withoutService(isRefused: Bool) {
        var error = BoardError(
            .unavailable, peer: "192.168.1.7:80", message: "No.", reason: isRefused ? nil : "not_a_board")
        error.isConnectionRefused = isRefused
        let told = error.onNetwork
        #expect(told.code == .notRainMaker && told.remedies == [.withoutMapping] && told.reason == nil)
        #expect(
            told.message.hasPrefix(
                "The board is on Wi-Fi, but its firmware does not offer RainMaker's service there (at 192.168.1.7:80)"))
    }

    @Test("a board that cannot be reached there may have the service")
    func unreachable() {
        let told = BoardError(.unavailable, message: "No connection.").onNetwork
        #expect(told.code == .unavailable && told.message.hasSuffix("No connection."))
    }

    @Test("Improv has no reset")
    func reset() throws {
        let identity = BoardIdentity(association: .challengeResponse, capabilities: ["improv.wifi"])
        let error = #expect(throws: BoardError.self) { try identity.checkHasReset("tty") }
        #expect(error?.code == .unsupported && error?.message.contains("speaks Improv") == true)
        try BoardIdentity(association: .userMapping).checkHasReset("tty")
    }
}
