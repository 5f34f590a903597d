// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainIO

/// Questions to the user at a terminal. Ctrl-C ends a question as the end of input does, and restores the terminal; so does the bell `end`.
enum Terminal {
    /// Longer answers are truncated, as a terminal's own line is.
    private static let maximumBytes = 4096

    /// Reads a line without echoing it; nil at the end of input.
    static func readSecret(prompt: String, until end: WakePipe? = nil) -> Secret? {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        // The prompt is printed after echo is off, so that an immediate answer is not shown.
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        HiddenInput.begin(before: before, silent: silent)
        defer {
            HiddenInput.end()
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            StandardStreams.err("\n")
        }
        StandardStreams.err(prompt.linesWithoutControls)
        return line(until: end)
    }

    static func ask(_ prompt: String, until end: WakePipe? = nil) -> String? {
        StandardStreams.err(prompt.linesWithoutControls)
        let answer = line(until: end)
        // Without Enter, the cursor is still after the prompt.
        if answer == nil { StandardStreams.err("\n") }
        return answer?.revealString()
    }

    /// Returns one line of the terminal, which delivers whole lines.
    private static func line(until end: WakePipe?) -> Secret? {
        var bytes = [UInt8](repeating: 0, count: maximumBytes)
        defer { for index in bytes.indices { bytes[index] = 0 } }
        var count = 0
        while count < bytes.count {
            guard case .ready = Interruption.wait(for: STDIN_FILENO, or: end) else { return nil }
            let more = bytes.withUnsafeMutableBytes { buffer in
                read(STDIN_FILENO, buffer.baseAddress! + count, buffer.count - count)
            }
            if more < 0, errno == EINTR { continue }
            guard more > 0 else { return count == 0 ? nil : Secret(bytes[..<count]) }
            count += more
            if bytes[count - 1] == UInt8(ascii: "\n") { return Secret(bytes[..<(count - 1)]) }
        }
        return Secret(bytes)
    }
}

/// Keeps the terminal's echo right while a secret is typed. Ctrl-\\ ends the process with the echo restored. After Ctrl-Z and `fg`, where
/// the shell has set its own echo, typed text stays hidden.
///
/// The other signals that end a command end the question first (``Signals``). Only one secret is asked for at a time.
enum HiddenInput {
    static func begin(before: termios, silent: termios) {
        (settingsBefore, settingsSilent) = (before, silent)
        signal(SIGQUIT) { number in
            tcsetattr(STDIN_FILENO, TCSANOW, &settingsBefore)
            signal(number, SIG_DFL)
            raise(number)
        }
        signal(SIGCONT) { _ in tcsetattr(STDIN_FILENO, TCSANOW, &settingsSilent) }
    }

    static func end() {
        signal(SIGQUIT, SIG_DFL)
        signal(SIGCONT, SIG_DFL)
    }
}

/// Written before the handlers, which read it, are installed.
nonisolated(unsafe) private var settingsBefore = termios()
nonisolated(unsafe) private var settingsSilent = termios()

/// The size of the terminal.
struct TerminalSize: Sendable, Equatable {
    var columns: Int
    var rows: Int

    /// The size of standard error; 80 by 24 if it is not a terminal or does not report its size.
    static var current: TerminalSize {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return TerminalSize(columns: 80, rows: 24) }
        return TerminalSize(
            columns: size.ws_col > 20 ? Int(size.ws_col) : 80, rows: size.ws_row > 4 ? Int(size.ws_row) : 24)
    }

    /// The width of standard output; nil if it is not a terminal or does not report its width.
    static var columnsOfOutput: Int? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}

extension String {
    /// Returns as much of a line as fits, with `…` if something was cut off. A line that wraps is not erased completely, and scrolls a list
    /// off the screen.
    func cut(toColumns limit: Int) -> String {
        var (columns, lastFitting) = (0, startIndex)
        for index in indices {
            columns += self[index].columns
            if columns > limit { return self[..<lastFitting] + "…" }
            if columns < limit { lastFitting = self.index(after: index) }
        }
        return self
    }
}

extension Character {
    /// The number of terminal columns: two for wide characters of East Asia and emoji (Unicode Standard Annex 11, W and F).
    fileprivate var columns: Int {
        switch unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}
