import Glibc
import Vocabulary

/// Questions to a person at a terminal.
enum Terminal {
    /// Reads a line without echoing it; nil at the end of input.
    static func readSecret(prompt: String) -> Secret? {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            StandardStreams.err("\n")
        }
        StandardStreams.err(prompt)
        return readLine(strippingNewline: true).map { Secret($0) }
    }

    static func ask(_ prompt: String) -> String? {
        StandardStreams.err(prompt)
        return readLine(strippingNewline: true)
    }
}
