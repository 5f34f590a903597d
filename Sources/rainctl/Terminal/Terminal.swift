// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainIO
import Synchronization

/// Questions to the user at a terminal. Ctrl-C ends a question as the end of input does, and restores the terminal; so does the bell `end`.
enum Terminal {
    /// Longer answers are truncated, as a terminal's own line is.
    private static let maximumBytes = 4096

    /// Reads a line without echoing it; nil at the end of input.
    static func readSecret(prompt: String, until end: WakePipe? = nil) -> Secret? {
        answer {
            // The prompt is printed after echo is off, so that an immediate answer is not shown.
            guard TypedInput.ask(hidden: true) else { return nil }
            defer {
                TypedInput.answered()
                StandardStreams.err("\n")
            }
            StandardStreams.err(shown(prompt))
            return line(until: end)
        }
    }

    static func ask(_ prompt: String, until end: WakePipe? = nil) -> String? {
        answer {
            _ = TypedInput.ask(hidden: false)
            defer { TypedInput.answered() }
            StandardStreams.err(shown(prompt))
            let answer = line(until: end)
            // Without Enter, the cursor is still after the prompt.
            if answer == nil { StandardStreams.err("\n") }
            return answer
        }?.revealString()
    }

    /// Asks until the answer is text. The terminal edits the line itself (Backspace, Ctrl-U), and passes on keys that it does not know.
    private static func answer(_ ask: () -> Secret?) -> Secret? {
        while let answer = ask() {
            guard let problem = problem(with: answer.revealBytes()) else { return answer }
            StandardStreams.err(shown(problem) + "\n")
        }
        return nil
    }

    /// The sentence about an answer with control characters, such as those of Home and the arrow keys; nil for text.
    static func problem(with answer: [UInt8]) -> String? {
        guard answer.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        return
            "The answer contains a key that is not a character, such as an arrow key. Type the answer again; Backspace deletes."
    }

    /// The prompt, wrapped at the terminal's width. The space at its end stays.
    private static func shown(_ prompt: String) -> String {
        let text = prompt.linesWithoutControls
        guard TerminalStyle.ofErrors.wrapsLines, let columns = TerminalSize.knownColumns else { return text }
        return text.wrapped(toColumns: columns)
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

/// What the terminal does with typed text: it is shown only while a visible answer is asked for.
///
/// While a command works, typed text is neither shown nor kept: it would answer a later question, or reach the shell, and may be a password.
/// Ctrl-\\ ends the process with the terminal restored. After Ctrl-Z and `fg`, where the shell has set its own echo, the mode returns.
enum TypedInput {
    /// Begins to hide and discard typed text until ``restore()``. Does nothing if standard input is not this process's terminal.
    static func hideWhileWorking() {
        guard Invocation.current.request == nil else { return }
        _ = change(to: silent, discarding: false, stays: true)
    }

    /// Discards what was typed before the question, and shows or hides the answer. Returns false if there is no terminal.
    fileprivate static func ask(hidden: Bool) -> Bool { change(to: hidden ? silent : visible, discarding: true) }

    /// Returns to the mode before the question.
    fileprivate static func answered() {
        if isWorking.load(ordering: .sequentiallyConsistent) {
            _ = change(to: silent, discarding: false)
        } else {
            restore()
        }
    }

    /// Restores the terminal, and discards what was typed meanwhile. The shell must not run it.
    static func restore() {
        guard isChanged.exchange(false, ordering: .sequentiallyConsistent) else { return }
        isWorking.store(false, ordering: .sequentiallyConsistent)
        // The shell has its own terminal settings back if this process was moved to the background.
        if tcgetpgrp(STDIN_FILENO) == getpgrp() { tcsetattr(STDIN_FILENO, TCSAFLUSH, &settingsBefore) }
        signal(SIGQUIT, SIG_DFL)
        signal(SIGCONT, SIG_DFL)
    }

    private static let isChanged = Atomic(false)
    private static let isWorking = Atomic(false)

    private static func visible(_ settings: inout termios) {}
    private static func silent(_ settings: inout termios) { settings.c_lflag &= ~tcflag_t(ECHO) }

    private static func change(
        to mode: (inout termios) -> Void, discarding: Bool, stays: Bool = false
    ) -> Bool {
        // A background job that changes the terminal is stopped (SIGTTOU).
        guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp() else { return isatty(STDIN_FILENO) == 1 }
        if !isChanged.load(ordering: .sequentiallyConsistent) {
            guard tcgetattr(STDIN_FILENO, &settingsBefore) == 0 else { return false }
        }
        if stays { isWorking.store(true, ordering: .sequentiallyConsistent) }
        var settings = settingsBefore
        mode(&settings)
        settingsNow = settings
        if !isChanged.exchange(true, ordering: .sequentiallyConsistent) {
            signal(SIGQUIT) { number in
                tcsetattr(STDIN_FILENO, TCSANOW, &settingsBefore)
                signal(number, SIG_DFL)
                raise(number)
            }
            signal(SIGCONT) { _ in tcsetattr(STDIN_FILENO, TCSANOW, &settingsNow) }
        }
        return tcsetattr(STDIN_FILENO, discarding ? TCSAFLUSH : TCSANOW, &settings) == 0
    }
}

/// Written before the handlers, which read it, are installed.
nonisolated(unsafe) private var settingsBefore = termios()
/// The mode that Ctrl-Z and `fg` bring back.
nonisolated(unsafe) private var settingsNow = termios()

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

    /// The width of standard error; nil if it is not a terminal or does not report its width.
    static var knownColumns: Int? {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 20 else { return nil }
        return Int(size.ws_col)
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

extension String {
    func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

extension StringProtocol {
    /// The number of terminal columns of a line without escape sequences.
    var terminalColumns: Int { reduce(0) { $0 + $1.columns } }
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
