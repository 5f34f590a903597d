// SPDX-License-Identifier: Apache-2.0
import Glibc

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
