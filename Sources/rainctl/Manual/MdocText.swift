// SPDX-License-Identifier: Apache-2.0

/// The source of a manual page, in mdoc(7), line by line.
struct MdocText {
    enum Part {
        /// A macro, such as `Ar`.
        case macro(String)
        /// An argument, whatever it holds.
        case word(String)
        /// A delimiter that mdoc puts beside the word before it.
        case punctuation(String)
    }

    /// The length of lines of text in the source.
    private static let columns = 76

    private var lines: [String] = []

    var text: String { lines.joined(separator: "\n") + "\n" }

    /// Adds the lines before the first section.
    mutating func prologue(date: String, title: String, system: String, version: String) {
        lines += [
            ".Dd \(date)",
            // Groff's own title names BSD. It is also so long that the header has no space for the page's name.
            ".ds doc-volume-operating-system", ".ds doc-volume-ds-1 \(system)",
            ".Dt \(title) 1", ".Os \(system) \(version)",
            // No word is hyphenated, because many are values to type, and no line is filled with spaces.
            ".nr doc-hyphen-flags 0", ".ds AD l",
        ]
    }

    mutating func section(_ title: String) { lines.append(".Sh \(title)") }

    /// Adds a line with one macro and its arguments.
    mutating func macro(_ name: String, _ arguments: String...) {
        line([.macro(name)] + arguments.map(Part.word))
    }

    /// Adds a line of macros and words.
    mutating func line(_ parts: some Sequence<Part>) {
        let words = parts.map { part in
            switch part {
            case .macro(let name), .punctuation(let name): name
            case .word(let text): Self.argument(text)
            }
        }
        lines.append(".\(words.joined(separator: " "))")
    }

    /// Adds text without its backticks. Each sentence begins on a new line.
    mutating func prose(_ text: String) {
        var sentence: [Substring] = []
        let words = text.replacing("`", with: "").split { $0 == " " || $0 == "\n" }
        for (index, word) in words.enumerated() {
            sentence.append(word)
            let next = words.dropFirst(index + 1).first?.first
            let isEnd = word.last.map { ".?!".contains($0) } == true && next?.isUppercase == true
            guard isEnd || next == nil else { continue }
            for line in HelpText.wrapped(sentence.joined(separator: " "), columns: Self.columns) {
                lines.append(Self.protected(line.split(separator: " ").map(Self.word).joined(separator: " ")))
            }
            sentence = []
        }
    }

    /// Adds lines that keep their spaces and are copied to a shell as they are.
    mutating func literal(_ text: [String]) {
        lines.append(".Bd -literal -offset indent")
        for line in text { lines.append(Self.protected(Self.escaped(line, isCode: true))) }
        lines.append(".Ed")
    }

    /// Adds a list of labels and their descriptions.
    mutating func list(width: String, _ body: (inout MdocText) -> Void) {
        lines.append(".Bl -tag -width \(width)")
        body(&self)
        lines.append(".El")
    }

    mutating func entries(_ entries: [(label: String, text: String)]) {
        list(width: "Ds") { page in
            for entry in entries {
                page.line([.macro("It"), .word(entry.label)])
                page.prose(entry.text)
            }
        }
    }

    /// Quoted if it has spaces, and never read as a macro or a delimiter.
    private static func argument(_ text: String) -> String {
        let text = escaped(text, isCode: true).replacing("\"", with: "\\(dq")
        let isMacro = (2...3).contains(text.count) && text.first?.isUppercase == true
        let isDelimiter = text.count == 1 && text.first.map { !$0.isLetter && !$0.isNumber } == true
        let safe = isMacro || isDelimiter ? "\\&\(text)" : text
        return safe.contains(" ") || safe.isEmpty ? "\"\(safe)\"" : safe
    }

    /// A line that begins with a dot or an apostrophe would be a request.
    private static func protected(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : line
    }

    /// A word of text. The name of an option is not broken at the end of a line.
    private static func word(_ word: Substring) -> String {
        let isOption = word.contains("--") || word.drop { $0 == "(" }.hasPrefix("-")
        return (isOption ? "\\%" : "") + escaped(String(word), isCode: isOption)
    }

    /// Returns text in which no character has a meaning for roff, and all others than ASCII have their number. In code, hyphens and
    /// apostrophes stay what they are, so that they can be copied.
    private static func escaped(_ text: String, isCode: Bool) -> String {
        text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\\": return "\\e"
            case "-" where isCode: return "\\-"
            case "'" where isCode: return "\\(aq"
            case "`": return "\\(ga"
            case "^": return "\\(ha"
            case "~": return "\\(ti"
            case _ where scalar.isASCII: return String(scalar)
            default:
                let number = String(scalar.value, radix: 16, uppercase: true)
                return "\\[u\(String(repeating: "0", count: max(0, 4 - number.count)))\(number)]"
            }
        }.joined()
    }
}
