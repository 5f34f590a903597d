// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainIO

/// Questions to a person at a terminal. Ctrl-C ends each as the end of input does, and leaves the terminal as it was; so does the bell `end`.
enum Terminal {
    /// Longer answers are cut off, as a terminal's own line is.
    private static let maximumBytes = 4096

    /// Reads a line without echoing it; nil at the end of input.
    static func readSecret(prompt: String, until end: WakePipe? = nil) -> Secret? {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        // The prompt comes after echo is off: an answer that follows it at once is not shown.
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
        // Without Enter, the cursor still stands behind the prompt.
        if answer == nil { StandardStreams.err("\n") }
        return answer?.revealString()
    }

    /// One line of the terminal, which delivers whole lines.
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
