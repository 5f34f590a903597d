// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit

/// What a command does last.
enum Ending {
    /// How long a signal waits for the answer to a renewal.
    static let afterSignal = Duration.seconds(5)
    /// How long nothing is said of it.
    private static let silence = Duration.milliseconds(300)

    /// Waits for new tokens that have been asked for: where the provider replaces refresh tokens, the session is lost with its answer. Until
    /// the renewal's own deadline, or for ``afterSignal`` once there was a signal; a second one ends the process in any case.
    static func finishRenewals(isQuiet: Bool) async {
        if await AccountSession.finishRenewals(within: silence) { return }
        if !isQuiet {
            StandardStreams.err(
                "note: waiting for the session's new tokens, to keep them. Ctrl-C may lose the session.\n")
        }
        if !Task.isCancelled, await AccountSession.finishRenewals() { return }
        guard Task.isCancelled else { return }
        // A task of its own: this one's cancellation was the signal.
        _ = await Task { await AccountSession.finishRenewals(within: afterSignal) }.value
    }

    /// Returns the exit status of the process. A result or a log that could not be written counts as a failure.
    static func status(after status: ExitStatus) -> ExitStatus {
        guard status == .ok else { return status }
        if let failure = StandardStreams.outFailure {
            // Whoever read it has enough, as `head` after its lines, and is not told so.
            if failure != EPIPE {
                let reason = String(cString: strerror(failure))
                StandardStreams.err(
                    "error: It is done, but the result could not be written to standard output: \(reason).\n")
            }
            return .cannotWrite
        }
        guard let log = PrivateLogFile.incomplete else { return status }
        StandardStreams.err("error: It is done, but the log \(log.onOneLine) is incomplete.\n")
        return .cannotWrite
    }
}
