// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Looks a host's name up on a thread of its own: nothing can interrupt the system's resolver, so the thread is left behind when the
/// time is over or the wait is cancelled, and ends with the resolver's answer.
final class HostLookup: Sendable {
    private let result = Mutex<Result<[SocketAddress], LookupFailure>?>(nil)
    private let wakeup: WakePipe

    private init(_ wakeup: WakePipe) { self.wakeup = wakeup }

    /// Blocks the thread; nil where it was interrupted or the time was over, or where the system gives no pipe or thread.
    static func addresses(
        of host: String, port: UInt16, until deadline: MonotonicDeadline, interrupt: WakePipe
    ) -> Result<[SocketAddress], LookupFailure>? {
        if case .success(let addresses) = SocketAddress.resolve(host, port: port, onlyFigures: true) {
            return .success(addresses)
        }
        guard let wakeup = WakePipe() else { return nil }
        let lookup = HostLookup(wakeup)
        let failure = startThread {
            let found = SocketAddress.resolve(host, port: port, onlyFigures: false)
            lookup.result.withLock { $0 = found }
            lookup.wakeup.ring()
        }
        guard failure == 0 else { return nil }
        var polled: [PollEntry] = [.readable(wakeup.reader), .readable(interrupt.reader)]
        _ = pollDescriptors(&polled, until: deadline)
        return lookup.result.withLock { $0 }
    }
}
