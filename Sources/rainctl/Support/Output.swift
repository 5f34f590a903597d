import Glibc
import RainJSON

/// What a command says: the result on standard output, talk on standard error, and either as JSON when asked.
struct Output: Sendable {
    /// The version of every JSON document that rainctl prints.
    static let schemaVersion: Int64 = 1

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
    func result(_ members: [JSONValue.Member], text: @autoclosure () -> String) {
        if isJSON {
            print(document: members)
        } else {
            let lines = text()
            if !lines.isEmpty { StandardStreams.out(lines.hasSuffix("\n") ? lines : lines + "\n") }
        }
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
        if isJSON {
            print(document: [.init("error", .object(failure.members))])
        } else {
            StandardStreams.err("error: \(failure.message.withoutControls)\n")
        }
    }

    private func print(document members: [JSONValue.Member]) {
        let document = JSONValue.object([.init("schemaVersion", .integer(Self.schemaVersion))] + members)
        StandardStreams.out(String(decoding: document.serialized(pretty: true), as: UTF8.self) + "\n")
    }
}
