// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// What a stream of this process can show: colours, a line that is redrawn, and wrapped text.
///
/// Colours follow `NO_COLOR` (no-color.org), `CLICOLOR_FORCE` (bixense.com/clicolors) and `TERM=dumb`. A colour never carries a meaning that
/// the text does not have.
struct TerminalStyle: Sendable, Equatable {
    var hasColour: Bool
    /// Whether a line can be redrawn in place.
    var isLive: Bool
    var wrapsLines: Bool

    init(isTerminal: Bool, environment: [String: String]) {
        let forced = environment["CLICOLOR_FORCE"].map { !$0.isEmpty && $0 != "0" } ?? false
        isLive = isTerminal && environment["TERM"] != "dumb"
        wrapsLines = isLive
        hasColour = forced || isLive && environment["NO_COLOR", default: ""].isEmpty
    }

    /// Standard error: messages, progress and questions.
    static let ofErrors = TerminalStyle(isTerminal: StandardStreams.errIsTerminal, environment: relevantEnvironment)
    /// Standard output: results.
    static let ofResults = TerminalStyle(isTerminal: StandardStreams.outIsTerminal, environment: relevantEnvironment)

    private static var relevantEnvironment: [String: String] {
        var environment: [String: String] = [:]
        for name in ["TERM", "NO_COLOR", "CLICOLOR_FORCE"] {
            environment[name] = getenv(name).map { String(cString: $0) }
        }
        return environment
    }

    /// The colours of Select Graphic Rendition (ECMA-48, 8.3.117).
    enum Colour: Int, Sendable { case bold = 1, dim = 2, red = 31, green = 32, yellow = 33, cyan = 36 }

    func painted(_ text: String, _ colour: Colour) -> String {
        hasColour && !text.isEmpty ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }
}

/// The signs that rainctl draws with: bars for signals and progress.
enum DrawnSigns {
    private static let plain: [Character: Character] = ["▂": ".", "▄": ":", "▆": "|", "█": "#", "░": "-"]

    /// Returns a line with the signs that a terminal shows. A terminal without UTF-8, or a dumb one, gets ASCII instead.
    static func shown(_ line: String, _ environment: [String: String]) -> String {
        Tick.mark(environment) == nil ? String(line.map { plain[$0] ?? $0 }) : line
    }
}

extension String {
    /// The text without the sequences of ``TerminalStyle/painted(_:_:)``.
    var withoutStyle: String { contains("\u{1B}") ? replacing(#/\u{1B}\[[0-9;]*m/#, with: "") : self }

    /// Returns the text with line ends at spaces, so that no line is longer than the terminal is wide. Continued lines begin with an indent.
    ///
    /// A word that is longer than a line stays whole, and so does a command to copy: the terminal wraps it, and copies it as one line.
    func wrapped(toColumns limit: Int, indent: Int = 0) -> String {
        guard limit > 20, withoutStyle.terminalColumns > limit else { return self }
        return split(separator: "\n", omittingEmptySubsequences: false)
            .map { Self.wrapped($0, toColumns: limit, indent: indent) }.joined(separator: "\n")
    }

    private static func wrapped(_ line: Substring, toColumns limit: Int, indent: Int) -> String {
        let margin = String(repeating: " ", count: line.prefix { $0 == " " }.count + indent)
        var (lines, current, columns) = ([String](), "", 0)
        for word in words(of: line) {
            let width = String(word).withoutStyle.terminalColumns
            if !current.isEmpty, columns + 1 + width > limit {
                lines.append(current)
                (current, columns) = (margin + word, margin.count + width)
            } else {
                let gap = current.isEmpty ? "" : " "
                (current, columns) = (current + gap + word, columns + gap.count + width)
            }
        }
        return (lines + [current]).joined(separator: "\n")
    }

    /// The words between single spaces. The line's own indent belongs to the first word, and a command after a colon, as in "Run: ", is one
    /// word.
    private static func words(of line: Substring) -> [Substring] {
        var result: [Substring] = []
        var start = line.firstIndex { $0 != " " } ?? line.endIndex
        var wordStart = line.startIndex
        while let space = line[start...].firstIndex(of: " ") {
            if line[wordStart...].hasPrefix("rainctl "), let last = result.last, last.hasSuffix(":"), last != "Usage:" {
                let end = line[wordStart...].firstRange(of: ". ")?.lowerBound ?? line.endIndex
                let stop = end < line.endIndex ? line.index(after: end) : end
                result.append(line[wordStart..<stop])
                guard stop < line.endIndex else { return result }
                wordStart = line.index(after: stop)
                start = wordStart
                continue
            }
            result.append(line[wordStart..<space])
            wordStart = line.index(after: space)
            start = wordStart
        }
        result.append(line[wordStart...])
        return result
    }
}
