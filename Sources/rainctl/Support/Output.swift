// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainKit
import Synchronization

/// Where commands print: results on standard output, everything else on standard error. With `--json`, results and errors are JSON.
struct Output: Sendable {
    var isJSON: Bool
    var isQuiet: Bool
    /// Of the one command that this process runs. Its error is printed where the rest of its output is out of reach.
    static let warnings = Warnings()

    init(_ options: GlobalOptions) {
        isJSON = options.json
        isQuiet = options.quiet
    }

    init(isJSON: Bool, isQuiet: Bool) {
        self.isJSON = isJSON
        self.isQuiet = isQuiet
    }

    /// Prints the command's result: the document with `--json`, the lines otherwise.
    func result(_ result: some CommandResult) {
        if isJSON {
            StandardStreams.out(JSONText.document(result, warnings: Self.warnings.all))
        } else {
            StandardStreams.out(Self.shown(result))
        }
    }

    /// The lines as they are printed. Results have text of boards, servers and files in many places.
    static func shown(_ result: some CommandResult) -> String {
        let text = result.text.linesWithoutControls
        return text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
    }

    /// Prints a line of `--events`: on standard error with `--json`, where standard output is for the document alone.
    func event(_ event: some Encodable) {
        let line = JSONText.line(event)
        isJSON ? StandardStreams.err(line) : StandardStreams.out(line)
    }

    /// Prints a remark.
    func say(_ line: String) {
        if !isQuiet { StandardStreams.err(line.withoutControls + "\n") }
    }

    /// Prints a warning. A line of progress that is being drawn is erased first, and drawn again below. Documents and events have it, too.
    /// - Parameter reason: for programs, in snake case.
    func warn(_ line: String, reason: String = "other") {
        Self.warnings.add(Warning(reason: reason, message: line.withoutControls))
        guard !isQuiet else { return }
        let start = StandardStreams.errIsTerminal ? StandardStreams.eraseLine : ""
        StandardStreams.err("\(start)warning: \(line.withoutControls)\n")
    }

    func failure(_ failure: CommandFailure) {
        let result = ErrorResult(failure)
        if isJSON { StandardStreams.out(JSONText.document(result, warnings: Self.warnings.all)) }
        // What standard output does not take is said all the same.
        if !isJSON || StandardStreams.outFailure != nil { StandardStreams.err(result.text + "\n") }
    }
}

/// What a command goes on in spite of: a member of its document, and an event.
struct Warning: Encodable, Sendable {
    /// For programs, in snake case, such as `proof_not_used`.
    let reason: String
    let message: String
}

/// The warnings of a command so far, in their order.
final class Warnings: Sendable {
    private struct State {
        var all: [Warning] = []
        var listener: (@Sendable (Warning) -> Void)?
    }

    private let state = Mutex(State())

    var all: [Warning] { state.withLock { $0.all } }

    func add(_ warning: Warning) {
        let listener = state.withLock { state in
            state.all.append(warning)
            return state.listener
        }
        listener?(warning)
    }

    /// Hands each warning from now on to `listener` as well.
    func listen(_ listener: @escaping @Sendable (Warning) -> Void) { state.withLock { $0.listener = listener } }
}

extension String {
    /// `wrongProofOfPossession` as `wrong_proof_of_possession`.
    var snakeCased: String {
        reduce(into: "") { result, character in
            if character.isUppercase { result += "_" }
            result += character.lowercased()
        }
    }

    /// Empty, or white space alone.
    var isBlank: Bool { allSatisfy(\.isWhitespace) }

    /// With a capital letter in front and a full stop behind. A host or a path in front keeps its spelling.
    var asSentence: String {
        guard let first, let last else { return self }
        let ended = ".!?".contains(last) ? self : self + "."
        let word = prefix { $0 != " " }
        let isWord = word != "localhost" && word.allSatisfy { $0.isLetter || "-,'".contains($0) }
        return first.isLowercase && isWord ? first.uppercased() + ended.dropFirst() : ended
    }

    /// Text from a board, a server or a file, made safe for one line of a terminal: control characters become spaces, at most 300 characters.
    var onOneLine: String { String(String.UnicodeScalarView(unicodeScalars.prefix(300))).withoutControls }

    /// The whole text, made safe to show (``ShownText``).
    var withoutControls: String { ShownText.plain(self) }

    /// The same for text of several lines.
    var linesWithoutControls: String { ShownText.plain(self, keepsLines: true) }

    /// One word of a command that is printed for copying. Shells may not be handed control characters, either.
    var asShellWord: String { ShellWord.quoted(withoutControls) }
}

/// RFC 3339 in UTC with milliseconds.
enum Timestamp {
    static func now() -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time
    }

    static func text(_ time: timespec) -> String {
        var seconds = time.tv_sec
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func padded(_ value: some BinaryInteger, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = "\(parts.tm_year + 1900)-\(padded(parts.tm_mon + 1, 2))-\(padded(parts.tm_mday, 2))"
        let clock = "\(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2)):\(padded(parts.tm_sec, 2))"
        return "\(date)T\(clock).\(padded(time.tv_nsec / 1_000_000, 3))Z"
    }
}

extension Timestamp {
    static func text(_ time: UnixTime) -> String {
        // Years have four digits; a stored number may be anything.
        let seconds = min(max(time.seconds, 0), 253_402_300_799)
        return text(timespec(tv_sec: Int(seconds), tv_nsec: 0))
    }
}
