// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import firmware_sim

/// What a console task does with bytes: the echo as text, and the commands that ran.
private struct Session<Input: ConsoleInput> {
    var input: Input
    var echo: [UInt8] = []
    var commands: [[String]] = []

    mutating func type(_ chunk: [UInt8]) {
        input.receive(chunk)
        while let step = input.next() {
            switch step {
            case .write(let bytes): echo += bytes
            case .run(let words):
                commands.append(words.map { String(decoding: $0, as: UTF8.self) })
                input.finish()
            }
        }
    }

    mutating func type(_ text: String) { type(Array(text.utf8)) }
    var text: String { String(decoding: echo, as: UTF8.self) }
}

@Suite("The protocomm console's lines")
struct ProtocommConsoleInputTests {
    private func session() -> Session<ProtocommConsoleInput> { Session(input: ProtocommConsoleInput()) }

    @Test("every byte is echoed, CR as CR LF, and the prompt follows the command")
    func echo() {
        var session = session()
        session.type("proto-ver 0 2d\r")
        #expect(session.text == "proto-ver 0 2d\r\n\n>> ")
        // The CR is still part of the last word, and pairs with an odd digit.
        #expect(session.commands == [["proto-ver", "0", "2d\r"]])
    }

    @Test("a line is the same, wherever it is split")
    func everySplit() {
        let line = Array("prov-config 0 0802\r".utf8)
        for index in 0...line.count {
            var session = session()
            session.type(Array(line[..<index]))
            session.type(Array(line[index...]))
            #expect(session.commands == [["prov-config", "0", "0802\r"]])
            #expect(session.text == "prov-config 0 0802\r\n\n>> ")
        }
    }

    @Test("CR LF together does not run the line; the next CR runs both as one")
    func carriageReturnLineFeed() {
        var session = session()
        session.type("proto-ver 0 2d\r\n")
        #expect(session.commands.isEmpty)
        session.type("proto-ver 0 2d\r")
        #expect(session.commands == [["proto-ver", "0", "2d\r\nproto-ver", "0", "2d\r"]])
    }

    @Test("an LF that comes later begins the next line")
    func lateLineFeed() {
        var session = session()
        session.type("proto-ver 0 2d\r")
        session.type("\n")
        session.type("proto-ver 0 2d\r")
        #expect(session.commands.last == ["\nproto-ver", "0", "2d\r"])
    }

    @Test("two lines in one write run once")
    func twoLines() {
        var session = session()
        session.type("proto-ver 0 2d\rproto-ver 0 2d\r")
        #expect(session.commands.count == 1)
        #expect(session.commands.first?.prefix(2) == ["proto-ver", "0"])
    }

    @Test("a line of 255 characters runs whole; a longer one is cut, run as it is, and its rest is a separate line")
    func longLines() {
        var fitting = session()
        let digits = String(repeating: "ab", count: 120)
        fitting.type("prov-config 0 \(digits)\r")
        #expect(fitting.commands == [["prov-config", "0", digits + "\r"]])

        var cut = session()
        let line = "prov-session 0 " + String(repeating: "ab", count: 400) + "\r"
        cut.type(line)
        #expect(cut.commands.count == 4)
        #expect(cut.commands[0][2].utf8.count == 255 - "prov-session 0 ".utf8.count)
        #expect(cut.commands[1].count == 1 && cut.commands[3][0].hasSuffix("\r"))
    }

    @Test("what is typed while a command runs waits, and a flood of it is bounded")
    func backlog() {
        var input = ProtocommConsoleInput()
        input.receive(Array("proto-ver 0 2d\r".utf8))
        _ = input.next()
        guard case .run = input.next() else {
            Issue.record("no command")
            return
        }
        for _ in 0..<10_000 { input.receive(Array("next\r".utf8)) }
        #expect(input.next() == nil)
        input.finish()
        var runs = 0
        while let step = input.next() {
            guard case .run = step else { continue }
            runs += 1
            input.finish()
        }
        #expect(runs > 0 && runs < 1000)
    }

    @Test(
        "hex is read as sscanf does",
        arguments: [
            ("5200\r", [0x52, 0x00]), ("5\r", [0x05]), ("ABcd\r", [0xAB, 0xCD]), ("zz\r", [0]),
            ("1z22\r", [0x01, 0x22]),
            ("\r", []), ("", []),
        ] as [(String, [UInt8])])
    func hex(text: String, bytes: [UInt8]) {
        #expect(ProtocommCommands.bytes(hex: Array(text.utf8)) == bytes)
    }

    @Test(
        "session ids are read as atoi does",
        arguments: [("0", 0), ("42", 42), ("-1", UInt32.max), ("7x", 7), ("x", 0), ("", 0), (" 3", 3)]
            as [(String, UInt32)])
    func sessionID(text: String, number: UInt32) {
        #expect(ProtocommCommands.number(Array(text.utf8)) == number)
    }
}

@Suite("RainMaker's console's lines")
struct RainMakerConsoleInputTests {
    private func session() -> Session<RainMakerConsoleInput> { Session(input: RainMakerConsoleInput()) }

    @Test("lines end with CR or LF, an empty one only brings the prompt", arguments: ["\r", "\n"])
    func lines(end: String) {
        var session = session()
        session.type("get-node-id" + end)
        #expect(session.commands == [["get-node-id"]])
        #expect(session.text == "get-node-id\r\n\r\n\n>> ")
        session.type(end)
        #expect(session.commands.count == 1)
        #expect(session.text == "get-node-id\r\n\r\n\n>> \r\n\r\n\n>> ")
    }

    @Test("several lines in one write all run")
    func severalLines() {
        var session = session()
        session.type("a\rb\rc\r")
        #expect(session.commands == [["a"], ["b"], ["c"]])
    }

    @Test("a line is the same, wherever it is split")
    func everySplit() {
        let line = Array("wifi-prov \"my net\" pass\r".utf8)
        for index in 0...line.count {
            var session = session()
            session.type(Array(line[..<index]))
            session.type(Array(line[index...]))
            #expect(session.commands == [["wifi-prov", "my net", "pass"]])
        }
    }

    @Test("backspace takes a character back, and none where there is none")
    func backspace() {
        var session = session()
        session.type("\u{08}hekp\u{08}\u{08}lp\r")
        #expect(session.commands == [["help"]])
    }

    @Test("a line of more than 255 characters is thrown away with a message, backspace or not")
    func tooLong() {
        var session = session()
        session.type(String(repeating: "x", count: 255) + "\r")
        #expect(session.commands.count == 1)
        session.type(String(repeating: "x", count: 256) + "\u{08}\r")
        #expect(session.commands.count == 1)
        #expect(session.text.hasSuffix("rmaker_console: Command longer than 255 characters. Line discarded.\r\n\n>> "))
    }
}

@Suite("Splitting command lines")
struct CommandLineTests {
    @Test(
        "words are split as esp_console does",
        arguments: [
            ("a b  c", ["a", "b", "c"]), ("  a", ["a"]), ("", []), ("   ", []), (#""a b" c"#, ["a b", "c"]),
            (#"a\ b"#, ["a b"]), (#"a\"b"#, ["a\"b"]), (#""a\"b""#, ["a\"b"]), (#"a\\b"#, ["a\\b"]), (#"a\nb"#, ["ab"]),
            (#""""#, [""]), (#""a"b"#, ["a", "b"]), ("a\tb", ["a\tb"]), (#""open end"#, ["open end"]),
            ("1 2 3 4 5 6 7 8 9", ["1", "2", "3", "4", "5", "6", "7"]), ("a\0b", ["a"]),
        ] as [(String, [String])])
    func words(line: String, words: [String]) {
        #expect(CommandLine.words(line.utf8).map { String(decoding: $0, as: UTF8.self) } == words)
    }
}
