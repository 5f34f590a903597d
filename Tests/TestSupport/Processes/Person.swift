// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A person at a terminal: reads what a program says there, and types answers.
///
/// The terminal is the program's standard input and standard error, and controls it: Ctrl-C is `type("\u{3}")`. Standard output stays a
/// pipe, so that the result is separate from the dialogue.
public final class Person: Sendable {
    public let process: ChildProcess
    public let terminal: PseudoTerminal
    private let heard = Watched("")
    private let pieces: Watched<[Piece]> = Watched([])
    private let read = Mutex(0)
    private let listening: Task<Void, Never>
    /// The near end, kept open: without one the terminal would forget its settings when the program ends.
    private let nearEnd: Int32

    /// A piece of the ``transcript``, and the time at which it arrived.
    public struct Piece: Sendable {
        public let time: ContinuousClock.Instant
        public let text: String
    }

    /// - Parameter size: columns and rows of the terminal; nil for a terminal that does not know its size.
    public static func start(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:],
        size: (columns: Int, rows: Int)? = nil
    ) async throws -> Person {
        let terminal = try PseudoTerminal()
        if let size { terminal.setSize(columns: size.columns, rows: size.rows) }
        let process = try await ChildProcess.start(
            executable, arguments, environment: environment, terminal: terminal.path)
        return Person(process: process, terminal: terminal)
    }

    private init(process: ChildProcess, terminal: PseudoTerminal) {
        self.process = process
        self.terminal = terminal
        nearEnd = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        let (heard, pieces) = (heard, pieces)
        // Cancelled in deinit.
        listening = Task {
            while !Task.isCancelled {
                let bytes = await terminal.receive()
                if bytes.isEmpty { return }
                let piece = Piece(time: .now, text: String(decoding: bytes, as: UTF8.self))
                pieces.change { $0.append(piece) }
                heard.change { $0 += piece.text }
            }
        }
    }

    deinit {
        listening.cancel()
        process.kill()
        close(nearEnd)
    }

    /// Everything that was on the terminal until now, including what was typed and echoed.
    public var transcript: String { heard.read { $0 } }

    /// The same as ``transcript``, with times.
    public var recording: [Piece] { pieces.read { $0 } }

    /// Waits until the program asks this, after what was waited for before.
    public func hears(_ text: String, within limit: Duration = .waitLimit) async throws {
        let start = read.withLock { $0 }
        let end: Int? = await heard.wait(within: limit) { all in
            all.dropFirst(start).firstRange(of: text).map { all.distance(from: all.startIndex, to: $0.upperBound) }
        }
        guard let end else {
            throw ProcessError("\(process.name) did not ask \"\(text)\" but said: \(transcript.suffix(2000))")
        }
        read.withLock { $0 = end }
    }

    /// Waits for the program's end, and until the ``transcript`` has everything that it wrote to the terminal. The kernel passes that on
    /// later, but in order, so a mark that is written now comes last.
    @discardableResult
    public func wait(within limit: Duration = .waitLimit) async throws -> ChildExit {
        let ended = try await process.wait(within: limit)
        let mark = "\u{0}end of output\u{0}"
        _ = write(nearEnd, mark, mark.utf8.count)
        guard await heard.wait(within: limit, for: { $0.hasSuffix(mark) ? true : nil }) == true else {
            throw ProcessError(
                "the terminal of \(process.name) keeps what was written there: \(transcript.suffix(2000))")
        }
        heard.change { $0.removeLast(mark.count) }
        return ended
    }

    /// Does the same, and answers a question that comes only if the program learns something in time.
    public func wait(answering question: String, _ line: String) async throws -> ChildExit {
        let answering = Task { try await answers(question, line) }
        defer { answering.cancel() }
        return try await wait()
    }

    public func types(_ text: String) async { await terminal.send(text) }

    /// Answers a question: waits for it, and types a line.
    public func answers(_ question: String, _ line: String) async throws {
        try await hears(question)
        await types(line + "\n")
    }
}
