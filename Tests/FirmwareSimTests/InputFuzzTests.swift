// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DeviceCore
import TestSupport
import Testing

@testable import firmware_sim

private let requests = [
    "POST /prov-config HTTP/1.1\r\nHost: 192.168.4.1\r\nCookie: session=42\r\nContent-Length: 4\r\n\r\nabcd",
    "POST /proto-ver HTTP/1.0\nTransfer-Encoding: chunked\n\n3\r\n---\r\n0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
    "\r\n\r\nPOST /a?b=c HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 99999\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\n\r\n",
].map { Array($0.utf8) }

private let lines = [
    "prov-session 0 5203a20100\r", "prov-config 0 0802620f0a034e6574120870617373776f7264\rprov-config 0 0804\r",
    "prov-scan 0 520408012078\rprov-scan 0 0802\r", "prov-config 0 5200\r", "sign-data text\rget-node-id\rup-time\r",
    "mem-dump\r\n\r\n", "proto-ver 4294967295 2d\r\n", "wifi-prov \"my net\" pass\\ word\r",
    "add-user user secret\r", "\u{08}\u{08}help\r\n\r\n", "prov-config 0 " + String(repeating: "ab", count: 300) + "\r",
    "\"open quote \\", "a\0b c\r",
].map { Array($0.utf8) }

private let parameters = [
    #"{"Light":{"Power":false}}"#, #"{"Light":{"Name":"L\u00e4mp","Power":true},"Fan":{"Speed":3}}"#,
    #"{"Light":[[{}]]}"#,
].map { Array($0.utf8) }

@Suite("What comes in from outside, fuzzed")
struct InputFuzzTests {
    @Test("what the cloud sets is taken over or left, and can be answered")
    func parameterMessages() async throws {
        try await withOwnProcessInSoak {
            let report = fuzz("params/remote", from: parameters, seed: 44) { input in
                guard let change = NodeParameters.Change(message: input) else { return }
                #expect(change.name.map { $0.count <= input.count } ?? true)
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("requests are read or refused, the same whole and in pieces")
    func requestParser() async throws {
        try await withOwnProcessInSoak {
            let report = fuzz("HTTP request", from: requests, seed: 41) { input in
                var heads: [[HTTPRequestParser.Step]] = []
                for pieces in [
                    [input], [Array(input.prefix(input.count / 2)), Array(input.dropFirst(input.count / 2))],
                ] {
                    var parser = HTTPRequestParser()
                    var steps: [HTTPRequestParser.Step] = []
                    for piece in pieces {
                        parser.append(piece)
                        while let step = parser.next() { steps.append(step) }
                    }
                    // What follows a first request depends on the pieces, as it does on the board.
                    heads.append(Array(steps.prefix(1)))
                }
                #expect(heads[0] == heads[1])
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("both consoles take any bytes, echo within bounds, and come back to the prompt")
    func consoles() async throws {
        try await withOwnProcessInSoak {
            var boards = try ConsoleBoards()
            var round = 0
            let report = fuzz("console input", from: lines, seed: 42) { input in
                round += 1
                // What the lines before did to them is a part of it; a fresh one takes settings again.
                if round.isMultiple(of: 100) { boards = try! ConsoleBoards() }
                feed(ProtocommConsoleInput(), ProtocommCommands(), boards.protocomm, input)
                feed(RainMakerConsoleInput(), RainMakerCommands(), boards.rainMaker, input)
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("words, numbers and hex are read from anything")
    func words() async throws {
        try await withOwnProcessInSoak {
            let report = fuzz("command line", from: lines, seed: 43) { input in
                let words = CommandLine.words(input)
                #expect(words.count <= CommandLine.wordLimit)
                for word in words {
                    _ = ProtocommCommands.number(word)
                    #expect(ProtocommCommands.bytes(hex: word).count == word.count / 2)
                }
                _ = AccessPointOption(argument: String(decoding: input, as: UTF8.self))
                _ = WiFiOption(argument: String(decoding: input, as: UTF8.self))
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}

/// A board for each dialect, which must outlive what the lines do to it and let nobody wait.
private struct ConsoleBoards {
    let protocomm: Board
    let rainMaker: Board

    init() throws {
        func board() throws -> Board {
            let simulator = try FirmwareSim.parse([
                "--http", "127.0.0.1:0", "--security", "0", "--seed", "3", "--no-auto-stop", "--channel-delay", "0",
                "--join-delay", "0", "--wifi", "my net:pass word",
            ])
            return try simulator.makeBoards(Journal(path: nil))[0]
        }
        (protocomm, rainMaker) = (try board(), try board())
    }
}

private func feed(_ input: some ConsoleInput, _ commands: some ConsoleCommands, _ board: Board, _ bytes: [UInt8]) {
    var input = input
    let log = BoardLog(bootTime: 0)
    var echoed = 0
    for piece in [bytes.prefix(bytes.count / 3), bytes.dropFirst(bytes.count / 3)] {
        input.receive(Array(piece))
        while let step = input.next() {
            switch step {
            case .write(let bytes): echoed += bytes.count
            case .run(let words):
                var outcome = commands.run(words, board: board, log: log)
                for _ in 0..<100 where outcome == .later {
                    board.wake(now: MonotonicClock.now)
                    outcome = commands.resume(board: board, log: log)
                }
                if case .output(let text) = outcome { #expect(text.count < 1 << 14) }
                board.wake(now: MonotonicClock.now)
                input.finish()
            }
        }
    }
    // Each byte brings itself, or at most two line ends, a message and a prompt.
    #expect(echoed <= 100 * (bytes.count + 1))
}
