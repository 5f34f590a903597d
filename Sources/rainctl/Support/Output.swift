// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit
import Synchronization

/// The output of commands: results on standard output, everything else on standard error. With `--json`, results and errors are JSON.
struct Output: Sendable {
    var isJSON: Bool
    var isQuiet: Bool
    /// The warnings of the one command of this process. Its error may be printed where the rest of its output is out of reach.
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

    /// Returns the lines as they are printed. Results contain text of boards, servers and files.
    static func shown(_ result: some CommandResult) -> String {
        let text = result.text.linesWithoutControls
        return text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
    }

    /// Prints a line of `--events`. With `--json` it goes to standard error, because standard output is only for the document.
    func event(_ event: some Encodable) {
        let line = JSONText.line(event)
        isJSON ? StandardStreams.err(line) : StandardStreams.out(line)
    }

    /// Prints a note.
    func say(_ line: String) {
        if !isQuiet { StandardStreams.err(line.withoutControls + "\n") }
    }

    /// Prints a warning. A progress line is erased before, and drawn again below. Documents and events also have the warning.
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
        // If standard output fails, the error is still printed.
        if !isJSON || StandardStreams.outFailure != nil { StandardStreams.err(result.text + "\n") }
    }
}

/// A problem despite which a command continues: a member of its document, and an event.
struct Warning: Encodable, Sendable {
    /// For programs, in snake case, such as `proof_not_used`.
    let reason: String
    let message: String
}

/// The warnings of a command so far, in order.
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

    /// Also passes each later warning to `listener`.
    func listen(_ listener: @escaping @Sendable (Warning) -> Void) { state.withLock { $0.listener = listener } }
}
