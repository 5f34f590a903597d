// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Finds the cause of a failure in the text of an argument or of a variable. Such a cause is an invisible character, a line end of Windows,
/// quotation marks, or a path that the shell did not complete.
enum GivenCause {
    /// Returns the message with that cause in its first sentence. The message does not change if it is not about such a text.
    ///
    /// - Parameters:
    ///   - isUsage: whether the command line itself is wrong. Otherwise a message may begin with the name of a board that exists.
    ///   - isRefusal: whether the message is about a value that is not known or not accepted.
    static func explained(
        _ message: String, isUsage: Bool, isRefusal: Bool, arguments: [String], environment: [String: String]
    ) -> String {
        let plain = message.withoutControls
        guard !known.contains(where: { plain.contains($0) }) else { return message }
        for name in variables {
            guard let value = environment[name], value.utf8.count > 1, plain.contains(value.withoutControls),
                let remark = GivenText.remark(on: value, as: "The value of \(name)")
            else { continue }
            // A command with the wrong value does not help.
            let advice = message.firstRange(of: " Run: rainctl")?.lowerBound ?? message.endIndex
            return String(message[..<advice]).because(of: remark)
        }
        for argument in arguments {
            let value = value(of: argument)
            guard isUsage || !plain.hasPrefix(value.withoutControls) else { continue }
            let hidden = isRefusal || value.hasSuffix("\r") ? remark(on: value, in: plain) : nil
            if let cause = hidden ?? pathRemark(on: argument, value, in: plain) { return message.because(of: cause) }
        }
        return message
    }

    /// The variables whose values messages quote. Secrets are not among them.
    private static let variables: [String] = EnvironmentVariable.all.flatMap(\.names).filter { name in
        name.hasPrefix("RAINKIT_") && !EnvironmentVariable.secrets.contains(name)
    }

    /// Words of messages that already name such a cause.
    private static let known: [String] = [
        "an invisible character (U+", "a carriage return", "quotation mark", "angle brackets", "a line end before",
        "a space before or after", "with a space", "was not replaced",
    ]

    /// Words of messages about files that do not exist.
    private static let missing: [String] = ["No such file", "not exist", "not found"]

    /// The text after the `=` of an option, else the whole argument.
    private static func value(of argument: String) -> String {
        guard argument.hasPrefix("--"), let sign = argument.firstIndex(of: "=") else { return argument }
        return String(argument[argument.index(after: sign)...])
    }

    /// Returns a remark on a value that the message quotes.
    private static func remark(on value: String, in message: String) -> String? {
        guard value.utf8.count > 1, let remark = GivenText.remark(on: value, as: "The argument") else { return nil }
        let shown = value.withoutControls
        let piece = value.hasSuffix("\r") ? nil : GivenText.invisible(in: value)?.piece
        if let piece { return piece.unicodeScalars.count > 1 && message.contains(piece.withoutControls) ? remark : nil }
        // Spaces are also between the words of the message.
        let isQuoted = message.contains("\"\(shown)\"") || message.contains("'\(shown)'")
        return isQuoted || value.hasSuffix("\r") && message.contains(shown) ? remark : nil
    }

    /// Returns a remark on a missing file whose path begins with `~` or `$HOME`, as the command got it.
    private static func pathRemark(on argument: String, _ path: String, in message: String) -> String? {
        let isMissing = missing.contains { message.contains($0) }
        guard isMissing, message.contains(path) else { return nil }
        if path.hasPrefix("$HOME") || path.hasPrefix("${HOME}") {
            return "$HOME was not replaced, because it was in single quotation marks. Write it without quotation marks."
        }
        guard path == "~" || path.hasPrefix("~/") else { return nil }
        let rest = String(path.dropFirst()).onOneLine
        return argument.hasPrefix("--")
            ? "~ was not replaced, because it was not at the beginning of a word. Write $HOME\(rest)."
            : "~ was not replaced, because it was in quotation marks. Write $HOME\(rest) without quotation marks."
    }
}
