// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainIO
import RainKitTesting
import TestSupport
import Testing

@testable import Protocomm
import ProtocommTransports

/// Firmware prints an answer byte by byte, so that another task's log line comes between any two of its bytes.
@Suite("An answer that log lines have torn", .timeLimit(.minutes(10)))
struct TornAnswerTests {
    static let answer = "08015a021001"
    static let logs = [
        "I (99) wifi: state: init -> auth (b0)\r\n", "\u{1B}[0;33mW (12:34:56.789) wifi: x\u{1B}[0m\r\n",
    ]
    /// With the C library's LF to CR LF conversion, and without it.
    static let lineEnds = ["\r\r\n", "\r\n"]

    func outcome(_ answer: String, lineEnd: String = "\r\r\n") -> ConsoleReplyParser.Outcome? {
        var parser = ConsoleReplyParser(command: Array("prov-config 17 5200".utf8))
        var found: ConsoleReplyParser.Outcome?
        for byte in ("prov-config 17 5200\r\n" + lineEnd + answer + "\n>> ").utf8 where found == nil {
            found = parser.append(byte)
        }
        return found
    }

    private func torn(at cuts: Int..., by log: String) -> String {
        var text = ""
        for (index, character) in Self.answer.enumerated() {
            for cut in cuts where 2 * cut == index { text += log }
            text.append(character)
        }
        for cut in cuts where 2 * cut == Self.answer.count { text += log }
        return text
    }

    @Test("is put together again, wherever the cuts are", arguments: logs, lineEnds)
    func everyCut(log: String, lineEnd: String) {
        for cut in 0...Self.answer.count / 2 {
            #expect(
                outcome(torn(at: cut, by: log) + lineEnd, lineEnd: lineEnd) == .answer(hex(Self.answer)),
                "cut at \(cut)")
            for second in cut...Self.answer.count / 2 {
                #expect(
                    outcome(torn(at: cut, second, by: log) + lineEnd + log, lineEnd: lineEnd)
                        == .answer(hex(Self.answer)), "cut at \(cut) and \(second)")
            }
        }
    }

    @Test(
        "is never taken for its rest, or its beginning, where lines of hex or of words come in as well", arguments: logs
    )
    func unclear(log: String) {
        for cut in 1...Self.answer.count / 2 {
            for other in ["deadbeef\r\n", "added a peer\r\n"] {
                let text = torn(at: cut, by: log + other) + "\r\r\n"
                #expect([.malformed, .answer(hex(Self.answer))].contains(outcome(text)), "\(text)")
                let words = torn(at: cut, by: other + log) + "\r\r\n"
                guard other.contains(" ") else { continue }
                #expect(outcome(words) == .malformed, "\(words)")
            }
        }
    }

    @Test("lost bytes are noticed: an echo without its end, and a part of an answer without a prompt")
    func lostBytes() {
        func lacksBytes(_ text: String) -> Bool {
            var parser = ConsoleReplyParser(command: Array("prov-config 17 5200".utf8))
            for byte in text.utf8 { _ = parser.append(byte) }
            return parser.lacksBytes
        }
        let echo = "prov-config 17 5200"
        #expect(lacksBytes(echo) && lacksBytes("prov-cofig 17") && lacksBytes("prov-con" + Self.logs[0]))
        #expect(lacksBytes(echo + "\r\n\r\r\n08015a" + Self.logs[0]))
        // The board has received the line, and is silent.
        #expect(!lacksBytes(echo + "\r\n") && !lacksBytes(echo + "\r\n" + Self.logs[0]))
        #expect(!lacksBytes("") && !lacksBytes(Self.logs[0]))
    }

    @Test("is no answer while its end has not come")
    func unfinished() { #expect(outcome("08015a" + Self.logs[0]) == .malformed) }

    @Test("lines of the log after an empty line do not turn a refusal into anything else", arguments: logs)
    func refused(log: String) {
        for text in [log, "\r\n" + log, "app_main: ready\r\n", "\r\n" + log + "\tReason : x\r\n" + log] {
            #expect(outcome(text) == .nothing, "\(text)")
        }
    }

    @Test("passes through the transport")
    func transport() async throws {
        let board = try EchoingConsole { line in
            line.hasPrefix("prov-config") ? "\r\r\n0801" + Self.logs[1] + "5a02" + Self.logs[0] + "1001\r\r\n" : ""
        }
        let transport = ConsoleTransport(port: try SerialPort.open(board.terminal.path), clock: ManualClock())
        #expect(try await transport.exchange([0x52, 0], on: .config) == hex(Self.answer))
        await transport.close()
    }
}
