// SPDX-License-Identifier: Apache-2.0
import RainCore
import DeviceCore
import ProtocommCore

/// `protocomm_console_task`: collects up to 256 bytes and runs them when the received bytes end with CR.
///
/// It looks for the CR only after it has emptied the UART's buffer. So a CR with bytes after it does not end the line.
struct ProtocommConsoleInput: ConsoleInput {
    /// `LINE_BUF_SIZE`.
    private static let bufferSize = 256

    private var line: [UInt8] = []
    private var backlog: [[UInt8]] = []
    private var output: [UInt8] = []
    private var isRunning = false

    let greeting = ConsoleText.prompt

    mutating func receive(_ chunk: [UInt8]) {
        guard backlog.reduce(0, { $0 + $1.count }) + chunk.count <= ConsoleText.backlogLimit else { return }
        if !chunk.isEmpty { backlog.append(chunk) }
    }

    mutating func next() -> ConsoleStep? {
        guard !isRunning else { return nil }
        guard output.isEmpty else {
            defer { output = [] }
            return .write(output)
        }
        if isComplete {
            // A full buffer has no space for a NUL; the command line is cut one byte earlier.
            let words = CommandLine.words(line.prefix(Self.bufferSize - 1))
            line = []
            isRunning = true
            return .run(words)
        }
        guard !backlog.isEmpty else { return nil }
        take(backlog.removeFirst())
        return next()
    }

    mutating func finish() {
        isRunning = false
        output += ConsoleText.prompt
    }

    private var isComplete: Bool { line.count >= Self.bufferSize || line.last == ConsoleText.carriageReturn }

    private mutating func take(_ chunk: [UInt8]) {
        for (index, byte) in chunk.enumerated() {
            guard line.count < Self.bufferSize else {
                // One more byte is read before the loop notices that the buffer is full. That byte is lost.
                let rest = Array(chunk[(index + 1)...])
                if !rest.isEmpty { backlog.insert(rest, at: 0) }
                return
            }
            line.append(byte)
            if byte == ConsoleText.carriageReturn { output += ConsoleText.lineEnd } else { output.append(byte) }
        }
    }
}

/// `common_cmd_handler` of `protocomm_console.c`: each endpoint is a command, `endpoint session hex`.
///
/// Errors are never printed, except for the log lines of the part that failed.
final class ProtocommCommands: ConsoleCommands {
    private var pending: Endpoint?

    func run(_ words: [[UInt8]], board: Board, log: BoardLog) -> CommandOutcome {
        guard words.count >= 3 else { return .output([]) }
        let endpoint = Endpoint(name: words[0])
        // An unknown command is an error of the dispatcher, which is not printed either.
        guard board.core.serves(endpoint) else { return .output([]) }
        let answer = board.respond(
            to: Self.bytes(hex: words[2]), on: endpoint, session: Self.number(words[1]), transport: "console")
        return outcome(answer, of: endpoint, log: log)
    }

    func resume(board: Board, log: BoardLog) -> CommandOutcome {
        guard let endpoint = pending else { return .output([]) }
        return outcome(board.delayedAnswer(on: endpoint, transport: "console"), of: endpoint, log: log)
    }

    private func outcome(_ answer: DeviceAnswer, of endpoint: Endpoint, log: BoardLog) -> CommandOutcome {
        pending = nil
        switch answer {
        case .reply(let reply):
            return .pieces(
                [ConsoleText.printedLineEnd] + reply.map { Hex.encoded([$0]) } + [ConsoleText.printedLineEnd])
        case .refused:
            return .output(
                log.line(.error, "protocomm", "Request handler for endpoint \(endpoint) failed"))
        case .later:
            pending = endpoint
            return .later
        }
    }

    /// `atoi`, then stored as 32 unsigned bits.
    static func number(_ text: [UInt8]) -> UInt32 {
        var rest = text.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        var value: UInt32 = 0
        for byte in rest.prefix(while: { (0x30...0x39).contains($0) }) {
            value = value &* 10 &+ UInt32(byte - 0x30)
        }
        return isNegative ? 0 &- value : value
    }

    /// `hex2bin`: `sscanf("%2hhx")` for each two characters. Characters that are not a number leave the byte unchanged. An odd last digit
    /// is paired with the CR after it, which is still part of the word.
    static func bytes(hex text: [UInt8]) -> [UInt8] {
        stride(from: 0, to: text.count - 1, by: 2).map { index in
            var value: UInt8 = 0
            for character in [text[index], text[index + 1]] {
                guard let digit = Hex.value(of: character) else { break }
                value = value << 4 | digit
            }
            return value
        }
    }
}
