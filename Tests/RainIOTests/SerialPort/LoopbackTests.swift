// SPDX-License-Identifier: Apache-2.0
import RainIO
import TestSupport
import Testing

@Suite("A loopback plug")
struct LoopbackTests {
    struct Case: Sendable {
        let name: String
        let sent: [String]
        let heard: [String]
        let isLoopback: Bool
    }

    private static let question = "IMPROV\u{1}\u{3}\u{2}\u{2}\u{0}"
    static let cases = [
        Case(name: "all of it", sent: ["\r", question], heard: ["\r", question], isLoopback: true),
        Case(name: "in pieces", sent: ["\r", question], heard: ["\r", "IMP", "ROV", "\u{1}\u{3}"], isLoopback: true),
        Case(name: "two writers", sent: ["\r", question], heard: [question, "\r"], isLoopback: true),
        Case(name: "too little", sent: ["\r", "\r"], heard: ["\r", "\r"], isLoopback: false),
        Case(name: "silence", sent: ["\r", question], heard: [], isLoopback: false),
        Case(name: "a console's echo", sent: ["\r", question], heard: ["\r\n", "\n>> ", question], isLoopback: false),
        Case(name: "MicroPython's echo", sent: ["\r", question], heard: ["\r\n>>> ", "IMPROV"], isLoopback: false),
        Case(
            name: "a log before it", sent: ["\r", question], heard: ["ESP-ROM:esp32c3", "\r", question],
            isLoopback: false),
        Case(
            name: "more than was sent", sent: ["\r", question], heard: ["\r", question, question], isLoopback: false),
        Case(name: "a receiver's sentences", sent: ["\r"], heard: ["$GPGGA,123519\r\n"], isLoopback: false),
    ]

    @Test("is noticed by what comes back, and nothing else is taken for one", arguments: cases)
    func watch(example: Case) {
        var watch = LoopbackWatch()
        for text in example.sent { watch.sent(Array(text.utf8)) }
        for text in example.heard { watch.heard(Array(text.utf8)) }
        #expect(watch.isLoopback == example.isLoopback, "\(example.name)")
    }

    @Test("a loopback is reported once enough bytes came back")
    func port() async throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort.open(terminal.path)
        try await port.write(Array("get-node-id\r".utf8))
        var back: [UInt8] = []
        while back.count < 12 { back += await terminal.receive() }
        #expect(!port.isLoopback)
        await terminal.send(back)
        var read = 0
        while read < 12 { read += try await port.read().count }
        #expect(port.isLoopback)
        await port.close()
    }
}
