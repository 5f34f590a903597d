// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Keeps the terminal's echo right while a secret is typed, whatever happens to the process: Ctrl-\\ ends it with the echo as it was, and
/// after Ctrl-Z and `fg`, where the shell has set its own, nothing that is typed is shown.
///
/// The other signals that end a command end the question first (``Signals``). One secret is asked for at a time.
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

/// Written before the handlers are in place, which read them.
nonisolated(unsafe) private var settingsBefore = termios()
nonisolated(unsafe) private var settingsSilent = termios()
