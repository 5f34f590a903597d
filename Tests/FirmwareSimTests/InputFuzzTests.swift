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
    "prov-session 0 5203a20100\r", "proto-ver 4294967295 2d\r\n", "wifi-prov \"my net\" pass\\ word\r",
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
    func parameterMessages() async {
        await #expect(processExitsWith: .success) {
            let report = fuzz("params/remote", from: parameters, seed: 44) { input in
                guard let change = NodeParameters.Change(message: input) else { return }
                #expect(change.name.map { $0.count <= input.count } ?? true)
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("requests are read or refused, the same whole and in pieces")
    func requestParser() async {
        await #expect(processExitsWith: .success) {
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
    func consoles() async {
        await #expect(processExitsWith: .success) {
            let report = fuzz("console input", from: lines, seed: 42) { input in
                feed(ProtocommConsoleInput(), input)
                feed(RainMakerConsoleInput(), input)
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("words, numbers and hex are read from anything")
    func words() async {
        await #expect(processExitsWith: .success) {
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

private func feed(_ input: some ConsoleInput, _ bytes: [UInt8]) {
    var input = input
    var echoed = 0
    for piece in [bytes.prefix(bytes.count / 3), bytes.dropFirst(bytes.count / 3)] {
        input.receive(Array(piece))
        while let step = input.next() {
            switch step {
            case .write(let bytes): echoed += bytes.count
            case .run: input.finish()
            }
        }
    }
    // Each byte brings itself, or at most two line ends, a message and a prompt.
    #expect(echoed <= 100 * (bytes.count + 1))
}
