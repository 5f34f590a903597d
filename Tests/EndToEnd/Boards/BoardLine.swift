// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The ways to a simulated board that need no radio.
enum BoardLine: String, CaseIterable, CustomStringConvertible, Sendable {
    case http = "HTTP"
    case console = "protocomm's console"
    case rainmaker = "RainMaker's console"

    var description: String { rawValue }

    func options(in folder: TemporaryFolder) -> [String] {
        switch self {
        case .http: ["--http", "127.0.0.1:0"]
        case .console: ["--console", folder.file("tty")]
        case .rainmaker: ["--console", folder.file("tty"), "--console-dialect", "rainmaker"]
        }
    }
}

extension Maker.Outcome {
    /// Expects that the command failed this way, with this message. The server's text may follow it in parentheses.
    func expectFailure(
        _ status: Int, _ code: String, says word: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(self.status == status, "\(standardOutput)\(standardError)", sourceLocation: sourceLocation)
        #expect(failure?["code"]?.string == code, sourceLocation: sourceLocation)
        let message = failure?["message"]?.string ?? ""
        // A command at the end has no full stop, so that it can be copied.
        let isSentence = ".?)".contains(message.last ?? " ") || message.contains(": rainctl ")
        #expect(isSentence && message.contains(word), "\(message)", sourceLocation: sourceLocation)
    }
}
