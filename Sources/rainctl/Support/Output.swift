// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit
import Synchronization

/// The output of commands: results on standard output, everything else on standard error. With `--json`, results and errors are JSON.
///
/// The output of a request to `rainctl serve` goes to its client instead.
struct Output: Sendable {
    /// The form of the result.
    enum Form: Sendable {
        case text, json
        /// JSON on one line.
        case compactJSON
        /// Tab-separated values, of a ``ListResult``.
        case tsv
    }

    var form: Form
    var isQuiet: Bool
    /// Whether results and errors are JSON documents.
    var isJSON: Bool { form == .json || form == .compactJSON }
    /// The warnings of the command. Its error may be printed where the rest of its output is out of reach.
    let warnings: Warnings
    private let request: ServedRequest?

    /// - Parameter list: the form that a command which prints a list was asked for.
    init(_ options: GlobalOptions, list: ListForm? = nil) {
        self.init(
            options.isJSON ? .json(isCompact: options.compact) : list == .tsv ? .tsv : .text,
            isQuiet: options.quiet)
    }

    init(_ form: Form = .text, isQuiet: Bool = false) {
        self.form = form
        self.isQuiet = isQuiet
        warnings = Invocation.current.warnings
        request = Invocation.current.request
    }

    /// Returns the output for an error that is known before the options are parsed, or when they are out of reach.
    init(arguments: [String]) {
        let options = arguments.prefix { $0 != "--" }
        // There, it is the form of the code.
        let isCompact = options.contains("--compact") && NamedCommand(arguments).command != QRShow.self
        self.init(isCompact || options.contains("--json") ? .json(isCompact: isCompact) : .text)
    }

    /// Prints the command's result: the document with `--json`, the lines otherwise.
    func result(_ result: some CommandResult) {
        if let request { return request.take(result: JSONText.documentLine(result, warnings: warnings.all)) }
        switch form {
        case .json, .compactJSON: StandardStreams.out(document(result))
        case .tsv: StandardStreams.out((result as? any ListResult)?.tsv ?? Self.shown(result))
        case .text:
            StandardStreams.out(Self.view(of: result) ?? Self.shown(result, tick: Tick.ofOutput, columns: Self.columns))
        }
    }

    private func document(_ result: some CommandResult) -> String {
        JSONText.document(result, warnings: warnings.all, isPretty: form != .compactJSON)
    }

    /// The width at which sentences of a result are wrapped; nil if they are not.
    private static var columns: Int? {
        TerminalStyle.ofResults.wrapsLines ? TerminalSize.columnsOfOutput : nil
    }

    /// Returns the lines for a terminal; nil in a pipe, and for a result that is the same there.
    private static func view(of result: some CommandResult) -> String? {
        guard StandardStreams.outIsTerminal, let result = result as? any TerminalResult else { return nil }
        let text = result.view(columns: TerminalSize.columnsOfOutput, style: .ofResults)
        return text.isEmpty ? "" : text + "\n"
    }

    /// Returns the lines as they are printed. Results contain text of boards, servers and files.
    /// - Parameters:
    ///   - tick: the mark before lines that confirm a change; nil for none.
    ///   - columns: the width at which sentences are wrapped; nil if they are not.
    static func shown(_ result: some CommandResult, tick: String? = nil, columns: Int? = nil) -> String {
        var text = result.text.linesWithoutControls
        if let tick, !text.isEmpty {
            var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            for index in result.confirmedLines where lines.indices.contains(index) {
                lines[index] = tick + lines[index]
            }
            text = lines.joined(separator: "\n")
        }
        if let columns, result.isProse { text = text.wrapped(toColumns: columns, indent: 2) }
        return text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
    }

    /// Prints a line of `--events`. With `--json` it goes to standard error, because standard output is only for the document.
    func event(_ event: some Encodable) {
        let line = JSONText.line(event)
        if let request { return request.take(event: line) }
        isJSON ? StandardStreams.err(line) : StandardStreams.out(line)
    }

    /// Prints a part of a result that arrives piece by piece: a line of JSON with `--json`, else the text.
    func piece(_ piece: some Encodable, text: @autoclosure () -> String) {
        if let request { return request.take(event: JSONText.line(piece)) }
        StandardStreams.out(isJSON ? JSONText.line(piece) : text() + "\n")
    }

    /// Whether nothing more can be printed, because nobody reads standard output any more (as behind `head -1`).
    var isCut: Bool { request == nil && StandardStreams.outFailure != nil }

    /// Prints a note.
    func say(_ line: String) {
        if !isQuiet { screen.write(line.withoutControls) }
    }

    /// The terminal, or the client of a request.
    var screen: Screen { request == nil ? .shared : Screen { tell($0) } }

    /// Prints text even with `--quiet`.
    func tell(_ text: String) {
        if let request { return request.take(note: text) }
        StandardStreams.err(text)
    }

    /// Prints text that the command cannot continue without: the page at which the user signs in.
    func tell(_ text: String, page: SignInPage) {
        if let request { return request.take(page: page) }
        StandardStreams.err(text)
    }

    /// Prints a warning. Documents and events also have it.
    /// - Parameter reason: for programs, in snake case.
    func warn(_ line: String, reason: String = "other") {
        warnings.add(Warning(reason: reason, message: line.withoutControls))
        guard !isQuiet, request == nil else { return }
        let mark = TerminalStyle.ofErrors.painted("warning:", .yellow)
        Screen.shared.write("\(mark) \(line.withoutControls)", indent: 2)
    }

    /// Prints a usage error of the argument parser, whose text also has the usage.
    func usageError(_ text: String) {
        let words = text.hasPrefix("Error: ") ? String(text.dropFirst(7)) : text
        Screen.shared.write("error: \(words.linesWithoutControls)", indent: 2)
    }

    func failure(_ failure: CommandFailure) {
        let result = ErrorResult(failure)
        if isJSON { StandardStreams.out(document(result)) }
        // If standard output fails, the error is still printed.
        guard !isJSON || StandardStreams.outFailure != nil else { return }
        let mark = TerminalStyle.ofErrors.painted("error:", .red)
        Screen.shared.write("\(mark) \(failure.message.withoutControls)", indent: 2)
    }
}

extension Output.Form {
    static func json(isCompact: Bool) -> Self { isCompact ? .compactJSON : .json }
}

/// The mark of a confirmation. Only a terminal gets it, so that the text for scripts stays a plain sentence.
enum Tick {
    /// The mark for standard output, with a blank; nil if it is not a terminal that shows it.
    static var ofOutput: String? {
        StandardStreams.outIsTerminal ? mark(processEnvironment()) : nil
    }

    /// Returns the mark for a terminal in this environment. The locale decides whether it can be shown, and `NO_COLOR` whether it is green.
    static func mark(_ environment: [String: String]) -> String? {
        // The first of these variables that has a value decides (POSIX, "Internationalization Variables").
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let isUTF8 = ["utf-8", "utf8"].contains { locale.lowercased().contains($0) }
        guard isUTF8, environment["TERM"] != "dumb" else { return nil }
        return environment["NO_COLOR", default: ""].isEmpty ? "\u{1B}[32m✓\u{1B}[0m " : "✓ "
    }
}

/// The page at which the user signs in.
struct SignInPage: Encodable, Sendable {
    let url: String
    /// The code that the user enters there, and the address that already contains it.
    var userCode: String?
    var completeURL: String?
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
