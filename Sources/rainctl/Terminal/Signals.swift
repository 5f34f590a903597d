// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainKit
import RainIO
import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into a cancellation, so that a command closes what it opened before it ends.
///
/// Handlers write to a pipe. Blocking the signals does not work on Linux: libdispatch has a thread that blocks none, so a blocked signal
/// would still end the process there.
enum Signals {
    /// Turns a closed reader into a write error (`EPIPE`) instead of the end of the process.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Keeps signals for ``whenReceived(_:)`` from now on. Call it before work that a signal must not interrupt.
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
            TypedInput.restore()
            _exit(ExitStatus.cancelled.rawValue)
        }
        guard failure != 0 else { return }
        // If nothing reads the pipe, a signal ends the process as in any other program.
        for number in caught where !isIgnored(number) { signal(number, SIG_DFL) }
    }

    private static let caught = [SIGINT, SIGTERM, SIGHUP]

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// - Returns: whether there was a signal; false if the pipe is broken.
    private static func waitForSignal(_ input: Int32) -> Bool {
        var byte: UInt8 = 0
        while true {
            let count = read(input, &byte, 1)
            if count < 0, errno == EINTR { continue }
            return count == 1
        }
    }
}

/// The two ends of the pipe for the handlers. Set once, before any handler is installed.
nonisolated(unsafe) private var signalPipe: Int32 = -1
nonisolated(unsafe) private var signalInput: Int32 = -1

/// A command that shows what happens until it is interrupted. Ctrl-C is its normal end, so no error is printed; the exit status is 130, as
/// for every interrupted command.
protocol EndsByInterruption {}

/// Waits for input, and for the signal that ends the command. A blocking read would not notice the signal.
enum Interruption {
    enum Arrival { case ready, interrupted, late }

    /// Made when first needed. It is rung once and never drained, which ends every wait, now and later.
    private static let alarm = WakePipe()

    private static let hasBegunFlag = Atomic(false)

    /// Cancels the command, then ends every wait, now and later. In this order, a question without an answer finds its task cancelled, so
    /// the missing answer is not mistaken for a refusal.
    static func begin(_ cancel: () -> Void) {
        hasBegunFlag.store(true, ordering: .sequentiallyConsistent)
        if let gentle = gentleEnd.withLock({ $0 }) { gentle() } else { cancel() }
        alarm?.ring()
    }

    private static let gentleEnd = Mutex<(@Sendable () -> Void)?>(nil)

    /// Calls `end` at the first signal, instead of cancelling the command, while `work` runs. The command then ends by itself.
    static func endingGently<Value>(
        _ end: @escaping @Sendable () -> Void, _ work: () async throws -> Value
    ) async rethrows -> Value {
        gentleEnd.withLock { $0 = end }
        defer { gentleEnd.withLock { $0 = nil } }
        if hasBegun { end() }
        return try await work()
    }

    /// Whether the command is to end.
    static var hasBegun: Bool { hasBegunFlag.load(ordering: .sequentiallyConsistent) }

    /// Returns when input is available, the command is to end, `bell` rings, or the time is over.
    static func wait(
        for descriptor: Int32, or bell: WakePipe? = nil, until end: ContinuousClock.Instant? = nil
    ) -> Arrival {
        var watched: [PollEntry] = [.readable(descriptor), .readable(alarm?.reader), .readable(bell?.reader)]
        let outcome = pollDescriptors(&watched, until: end.map { .after(ContinuousClock.now.duration(to: $0)) })
        if watched[1].isReady || watched[2].isReady { return .interrupted }
        // The following read finds an end of file or an error.
        return outcome == .timedOut ? .late : .ready
    }
}
