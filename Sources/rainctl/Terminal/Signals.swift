// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainIO

/// Turns SIGINT, SIGTERM and SIGHUP into a cancellation, so that a command closes what it opened before it ends.
///
/// Handlers write to a pipe. Blocking the signals does not work on Linux: a thread of libdispatch's blocks none, so a blocked signal
/// would still end the process there.
enum Signals {
    /// A reader that has left is an error of writing (`EPIPE`), and not the end of the process.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// From here on a signal waits for ``whenReceived(_:)``. To be called before the work begins that a signal must not break off.
    ///
    /// A signal that the parent process ignores (`nohup`, a shell's background job) stays ignored.
    static func catchAll() {
        var ends: [Int32] = [0, 0]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { return }
        (signalInput, signalPipe) = (ends[0], ends[1])
        for number in caught where !isIgnored(number) {
            signal(number) { _ in
                var byte: UInt8 = 1
                _ = write(signalPipe, &byte, 1)
            }
        }
    }

    /// Calls `cancel` at the first signal; the second one ends the process at once.
    static func whenReceived(_ cancel: @escaping @Sendable () -> Void) {
        let input = signalInput
        let failure = startThread {
            guard waitForSignal(input) else { return }
            Interruption.begin(cancel)
            guard waitForSignal(input) else { return }
            _exit(ExitStatus.cancelled.rawValue)
        }
        guard failure != 0 else { return }
        // Where nobody reads the pipe, a signal ends the process as it does any other.
        for number in caught where !isIgnored(number) { signal(number, SIG_DFL) }
    }

    private static let caught = [SIGINT, SIGTERM, SIGHUP]

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// - Returns: whether there was one; false where the pipe is broken, which is no signal.
    private static func waitForSignal(_ input: Int32) -> Bool {
        var byte: UInt8 = 0
        while true {
            let count = read(input, &byte, 1)
            if count < 0, errno == EINTR { continue }
            return count == 1
        }
    }
}

/// Where the handlers write, and where that is read. Set once, before any handler is in place.
nonisolated(unsafe) private var signalPipe: Int32 = -1
nonisolated(unsafe) private var signalInput: Int32 = -1
