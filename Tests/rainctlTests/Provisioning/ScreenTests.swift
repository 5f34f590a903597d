// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing

@testable import rainctl

/// Progress and questions on one terminal.
@Suite("The screen that progress and questions share")
struct ScreenTests {
    private final class Paper: Sendable {
        let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
    }

    private func scene() -> (Screen, Paper) {
        let paper = Paper()
        return (Screen { line in paper.lines.withLock { $0.append(line) } }, paper)
    }

    private let erased = StandardStreams.eraseLine

    @Test("a live line is replaced by the next, and by one that stays")
    func live() {
        let (screen, paper) = scene()
        screen.draw("1 s")
        screen.draw("2 s")
        screen.write("done")
        screen.write("more")
        #expect(paper.all == [erased + "1 s", erased + "2 s", erased, "done\n", "more\n"])
    }

    @Test("a question gets its own line, is not drawn over, and later output follows the answer")
    func asking() async {
        let (screen, paper) = scene()
        screen.draw("1 s")
        await screen.asking {
            screen.say("1  Home")
            screen.draw("2 s")
            screen.write("the cloud is away")
            // Questions within a conversation.
            await screen.asking { screen.say("Number:") }
            screen.draw("3 s")
            screen.write("the cloud is back")
            #expect(paper.all == [erased + "1 s", erased, "1  Home\n", "Number:\n"])
        }
        screen.draw("4 s")
        #expect(paper.all.dropFirst(4) == ["the cloud is away\n", "the cloud is back\n", erased + "4 s"])
    }

    @Test("the time in which somebody is asked is known meanwhile and afterwards, and counted once")
    func timeAsked() async throws {
        let (screen, _) = scene()
        #expect(screen.timeAsked == .zero)
        let start = ContinuousClock.now
        await screen.asking {
            await screen.asking { try? await Task.sleep(for: .milliseconds(20)) }
            #expect(screen.timeAsked >= .milliseconds(20))
        }
        let asked = screen.timeAsked
        #expect(asked >= .milliseconds(20) && asked <= start.duration(to: .now))
        try await Task.sleep(for: .milliseconds(5))
        #expect(screen.timeAsked == asked)
    }

    @Test("what is said holds nothing that a terminal obeys")
    func controls() {
        let (screen, paper) = scene()
        screen.say("Home\u{1B}[2J")
        #expect(paper.all == ["Home [2J\n"])
    }
}
