// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainWaiting

/// Turns SIGINT, SIGTERM and SIGHUP into a cancellation, so that a command closes what it opened before it ends.
///
/// Handlers write to a pipe. Blocking the signals does not work on Linux: a thread of libdispatch's blocks none, so a blocked signal
/// would still end the process there.
enum Signals {
    /// Calls `cancel` at the first signal; the second one ends the process at once. A signal that the parent process ignores (`nohup`, a
    /// shell's background job) stays ignored.
    static func whenReceived(_ cancel: @escaping @Sendable () -> Void) {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { return }
        signalPipe = ends[1]
        let input = ends[0]
        let failure = startThread {
            guard waitForSignal(input) else { return }
            Interruption.begin()
            cancel()
            guard waitForSignal(input) else { return }
            _exit(ExitStatus.cancelled.rawValue)
        }
        // Where nobody would read the pipe, a signal ends the process as it does any other.
        guard failure == 0 else { return }
        for number in [SIGINT, SIGTERM, SIGHUP] {
            var current = sigaction()
            sigaction(number, nil, &current)
            if isIgnored(current) { continue }
            signal(number) { _ in
                var byte: UInt8 = 1
                _ = write(signalPipe, &byte, 1)
            }
        }
    }

    private static func isIgnored(_ action: sigaction) -> Bool {
        unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
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

/// Where the handlers write. Set once, before any handler is in place.
nonisolated(unsafe) private var signalPipe: Int32 = -1
