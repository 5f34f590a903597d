// SPDX-License-Identifier: Apache-2.0
import RainIO
import Testing

/// The echo goes out beside the lock of the C library's output: it lands in the middle of a line that another task is printing.
@Suite("The echo inside a log line")
struct EchoInLogTests {
    func showsPrompt(_ command: String, _ output: String) -> Bool {
        var transcript = ConsoleTranscript(command: Array(command.utf8))
        return output.utf8.contains { transcript.append($0) == .prompt }
    }

    static let answer = "\r\nesp_rmaker_commands: Node ID: n1\r\n\n>> "

    @Test("is recognised at the end of what it has cut", arguments: ["get-node-id", "prov-session 17 52020801aa0100"])
    func whole(command: String) {
        #expect(showsPrompt(command, "I (1234) main: he\(command)\r\nllo\r\n" + Self.answer))
        #expect(showsPrompt(command, "\u{1B}[0;32mI (1234) main: he\(command)\r\nllo\u{1B}[0m\r\n" + Self.answer))
    }

    @Test("in two pieces, one of them in the log line", arguments: ["get-node-id", "prov-session 17 52020801aa0100"])
    func pieces(command: String) {
        for cut in 0...command.count {
            let (first, last) = (command.prefix(cut), command.dropFirst(cut))
            #expect(showsPrompt(command, "\(first)I (1) main: he\(last)\r\nllo\r\n" + Self.answer), "cut at \(cut)")
            #expect(showsPrompt(command, "I (1) main: he\(first)llo\r\n\(last)\r\n" + Self.answer), "cut at \(cut)")
        }
    }

    @Test("prompts before it still belong to something earlier")
    func earlierPrompt() {
        #expect(!showsPrompt("get-node-id", "\n>> I (1234) main: hello\r\n\n>> I (1) app: get-node\r\n\n>> "))
    }
}
