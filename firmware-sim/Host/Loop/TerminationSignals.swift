// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc

/// Ends the loop on SIGTERM, SIGINT and SIGHUP, and, if asked to, when the parent process is gone.
final class TerminationSignals: EventSource {
    private let reading: Int32
    private let parent: pid_t?
    private let stop: () -> Void

    /// - Parameter watchesParent: looks every half second whether the process that started this one still lives.
    init(watchesParent: Bool, stop: @escaping () -> Void) {
        self.stop = stop
        parent = watchesParent ? getppid() : nil
        var ends: [Int32] = [-1, -1]
        precondition(pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0, "no pipe")
        reading = ends[0]
        signalPipe = ends[1]
        for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, tellSignal) }
        signal(SIGPIPE, SIG_IGN)
    }

    var interests: [Interest] { [Interest(descriptor: reading, events: Int16(POLLIN))] }
    var due: UInt64? { parent == nil ? nil : MonotonicClock.now + 500 }
    func ready(_ descriptor: Int32, events: Int16, now: UInt64) { stop() }
    func wake(now: UInt64) { if let parent, getppid() != parent { stop() } }
    func shutDown() {}
}

/// Written once before any signal can arrive, read by the handler only.
nonisolated(unsafe) private var signalPipe: Int32 = -1

private func tellSignal(_ number: Int32) {
    var byte: UInt8 = 1
    _ = write(signalPipe, &byte, 1)
}
