// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import Protocomm

@Suite("The answer in a console's output")
struct ConsoleReplyParserTests {
    func outcome(_ chunks: [String], command: String = "prov-config 17 5200") -> ConsoleReplyParser.Outcome? {
        var parser = ConsoleReplyParser(command: Array(command.utf8))
        var found: ConsoleReplyParser.Outcome?
        for byte in chunks.joined().utf8 where found == nil { found = parser.append(byte) }
        return found
    }

    /// What the console prints: with the C library's LF to CR LF conversion, and without it.
    static let outputs = [
        "prov-config 17 5200\r\n\r\r\n08015a021001\r\r\n\n>> ",
        "prov-config 17 5200\r\n\r\n08015a021001\r\n\n>> ",
    ]

    @Test("the hex line before the prompt is the answer", arguments: outputs)
    func answered(output: String) {
        #expect(outcome([output]) == .answer(hex("08015a021001")))
    }

    @Test("the answer counts only once the prompt is there", arguments: outputs)
    func everyTruncation(output: String) {
        let bytes = Array(output.unicodeScalars)
        for count in 0..<bytes.count {
            var text = ""
            text.unicodeScalars.append(contentsOf: bytes[..<count])
            #expect(outcome([text]) == nil)
        }
    }

    @Test("a prompt without an answer is a refusal if the log shows one; otherwise an answer may have been lost")
    func refused() {
        #expect(outcome(["prov-config 17 5200\r\n\n>> "]) == .nothing)
        #expect(outcome(["prov-config 17 5200\r\nE (99) wifi: x\r\n\n>> "]) == .nothing)
        #expect(
            outcome(["prov-config 17 5200\r\n\u{1B}[0;31mE (99) protocomm: Invalid session\u{1B}[0m\r\n\n>> "])
                == .refused)
    }

    @Test("hex-like log lines do not turn a refusal into an answer")
    func refusedAmidHex() {
        let error = "E (99) protocomm: Invalid session\r\n"
        #expect(outcome(["deadbeef\r\n", "prov-config 17 5200\r\n\n>> "]) == .nothing)
        #expect(outcome(["prov-config 17\r\n", "deadbeef\r\n", " 5200\r\n\n>> "]) == .nothing)
        #expect(outcome(["prov-config 17 5200\r\n", "deadbeef\r\n", error, "\n>> "]) == .refused)
    }

    @Test("a prompt of an earlier line is not the end of this one")
    func stalePrompt() {
        #expect(outcome(["\n>> \r\n\n>> ", "prov-config 17 5200\r\n\r\n0801\r\n\n>> "]) == .answer(hex("0801")))
        #expect(outcome([">> prov-config 17 5200\r\n\r\n0801\r\n\n>> "]) == .answer(hex("0801")))
    }

    @Test("log lines may appear anywhere between the lines, hex-like ones too")
    func interleavedLines() {
        let log = "\u{1B}[0;32mI (1234) wifi: state: init -> auth (b0)\u{1B}[0m\r\n"
        let hexLog = "deadbeef\r\n"
        for noise in [log, hexLog, log + hexLog, hexLog + log] {
            #expect(outcome([noise, "prov-config 17 5200\r\n\r\n0801\r\n\n>> "]) == .answer(hex("0801")))
            #expect(outcome(["prov-config 17 5200\r\n", noise, "\r\n0801\r\n\n>> "]) == .answer(hex("0801")))
            #expect(outcome(["prov-config 17 5200\r\n\r\n0801\r\n", noise, "\n>> "]) == .answer(hex("0801")))
        }
        // A log line between the empty line and the answer takes away the sign, but nothing better came.
        #expect(outcome(["prov-config 17 5200\r\n\r\n", log, "0801\r\n\n>> "]) == .answer(hex("0801")))
    }

    @Test(
        "a log line that breaks the echo at any place does not turn our own hex into an answer",
        arguments: ["prov-config 17 5200", "prov-session 5 " + String(repeating: "abcd01", count: 10)])
    func interruptedEcho(command: String) {
        let log = "I (1234) wifi: connected\r\n"
        // A soak cuts at every pair of places.
        let step = isSoak ? 1 : 9
        for cut in 0...command.count {
            for second in stride(from: cut + cut % step, through: command.count, by: step) {
                let pieces = [
                    command.prefix(cut), command.dropFirst(cut).prefix(second - cut), command.dropFirst(second),
                ]
                let echo = pieces.map { String($0) }.joined(separator: log) + "\r\n"
                #expect(outcome([echo, "\n>> "], command: command) == .nothing, "cut at \(cut) and \(second)")
                #expect(
                    outcome([echo, "\r\n0801\r\n\n>> "], command: command) == .answer(hex("0801")),
                    "cut at \(cut) and \(second)")
                // The same where all of it lands in a line that another task is printing.
                let within = "I (1234) main: he" + echo + "llo\r\n"
                #expect(outcome([within, "\n>> "], command: command) == .nothing, "cut at \(cut) and \(second)")
                #expect(
                    outcome([within, "\r\n0801\r\n\n>> "], command: command) == .answer(hex("0801")),
                    "cut at \(cut) and \(second)")
            }
        }
    }

    @Test("an odd number of digits, or more than a line may have, is malformed")
    func malformed() {
        #expect(outcome(["prov-config 17 5200\r\n\r\n080\r\n\n>> "]) == .malformed)
        #expect(
            outcome(["prov-config 17 5200\r\n\r\n" + String(repeating: "0", count: 5000) + "\r\n\n>> "]) == .malformed)
    }

    @Test("uppercase digits are no answer of this firmware")
    func uppercase() { #expect(outcome(["prov-config 17 5200\r\n\r\n0A\r\n\n>> "]) == .nothing) }

    @Test("a restart of the board in between is an error of its own kind")
    func restarted() {
        #expect(outcome(["prov-config 17 5200\r\n", "ESP-ROM:esp32c3-api1-20210207\r\n"]) == .restarted)
        #expect(
            outcome(["prov-config", "ESP-ROM:esp32c3-api1-20210207\r\nBuild:Feb  7 2021\r\nrst:0x1 (POWERON)\r\n"])
                == .restarted)
    }
}
