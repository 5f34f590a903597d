import Glibc

/// What a command says: the result on standard output, talk on standard error, and either as JSON when asked.
struct Output: Sendable {
    var isJSON: Bool
    var isQuiet: Bool

    init(_ options: GlobalOptions) {
        isJSON = options.json
        isQuiet = options.quiet
    }

    init(isJSON: Bool, isQuiet: Bool) {
        self.isJSON = isJSON
        self.isQuiet = isQuiet
    }

    /// The command's result: the document with `--json`, the lines otherwise.
    func result(_ result: some CommandResult) {
        if isJSON {
            StandardStreams.out(JSONText.document(result))
        } else {
            let text = result.text
            if !text.isEmpty { StandardStreams.out(text.hasSuffix("\n") ? text : text + "\n") }
        }
    }

    /// A line of `--events`. Standard output has one owner: with `--json` that is the document.
    func event(_ event: some Encodable) {
        let line = JSONText.line(event)
        isJSON ? StandardStreams.err(line) : StandardStreams.out(line)
    }

    /// Something worth knowing that is not the result.
    func say(_ line: String) {
        if !isQuiet { StandardStreams.err(line.withoutControls + "\n") }
    }

    /// Something that may not be as it was meant. It may come while progress is drawn, which begins anew below it.
    func warn(_ line: String) {
        guard !isQuiet else { return }
        let start = StandardStreams.errIsTerminal ? StandardStreams.eraseLine : ""
        StandardStreams.err("\(start)warning: \(line.withoutControls)\n")
    }

    func failure(_ failure: CommandFailure) {
        let result = ErrorResult(failure)
        isJSON ? StandardStreams.out(JSONText.document(result)) : StandardStreams.err(result.text + "\n")
    }
}
