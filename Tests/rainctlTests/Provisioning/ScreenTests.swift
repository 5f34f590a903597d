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

    @Test("a live line is replaced by the next, and stays below lines that are written")
    func live() {
        let (screen, paper) = scene()
        screen.draw("1 s")
        screen.draw("2 s")
        screen.write("done")
        screen.write("more")
        let above = { (line: String) in [self.erased, line + "\n", "2 s"] }
        #expect(paper.all == [erased + "1 s", erased + "2 s"] + above("done") + above("more"))
        screen.draw("")
        screen.write("end")
        #expect(paper.all.suffix(2) == [erased, "end\n"])
    }

    @Test("the live line of a wait shows how long it has taken, and when it ends if that is known")
    func waiting() {
        #expect(WaitingText.line("Waiting", after: .milliseconds(3250), of: nil) == "… Waiting (3.2 s)")
        #expect(WaitingText.line("Waiting", after: .seconds(12), of: .seconds(20)) == "… Waiting (12.0 s of 20 s)")
        #expect(WaitingText.line("Waiting", after: .zero, of: .milliseconds(24_981)) == "… Waiting (0.0 s of 25 s)")
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

    @Test("a live line that a narrower terminal shows on several rows is erased completely")
    func narrower() {
        let paper = Paper()
        let columns = Mutex(80)
        let screen = Screen({ line in paper.lines.withLock { $0.append(line) } }, columns: { columns.withLock { $0 } })
        screen.draw(String(repeating: "x", count: 70))
        columns.withLock { $0 = 30 }
        screen.draw("y")
        #expect(paper.all.last == erased + "\u{1B}[A\u{1B}[2K\u{1B}[A\u{1B}[2Ky")
    }

    @Test(
        "lines are wrapped at spaces, with an indent; words and commands to copy stay whole",
        arguments: [
            ("short", "short"),
            ("one two three four five six seven", "one two three four five\n  six seven"),
            ("  - one two three four five six", "  - one two three four\n    five six"),
            ("Sign in first. Run: rainctl login me@example.com", "Sign in first. Run:\n  rainctl login me@example.com"),
            ("A note. To go back: rainctl account use me", "A note. To go back:\n  rainctl account use me"),
            ("Usage: rainctl on <lamp> [<options>]", "Usage: rainctl on <lamp>\n  [<options>]"),
            ("a /very/long/path/that/does/not/fit b", "a\n  /very/long/path/that/does/not/fit\n  b"),
            (
                "\u{1B}[31merror:\u{1B}[0m one two three four five",
                "\u{1B}[31merror:\u{1B}[0m one two three\n  four five"
            ),
            ("two  spaces  in  between  these  words", "two  spaces  in  between\n   these  words"),
        ])
    func wrapping(line: String, wrapped: String) {
        #expect(line.wrapped(toColumns: 24, indent: 2) == wrapped)
    }

    @Test("what is said holds nothing that a terminal obeys")
    func controls() {
        let (screen, paper) = scene()
        screen.say("Home\u{1B}[2J")
        #expect(paper.all == ["Home [2J\n"])
    }
}
