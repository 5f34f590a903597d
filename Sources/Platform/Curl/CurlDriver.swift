// SPDX-License-Identifier: Apache-2.0
import CRainCurl
import Glibc
import RainHTTP
import RainIO
import Synchronization

/// Runs libcurl, and takes commands from other threads through an inbox.
///
/// Only one thread at a time uses libcurl, the driving thread. A thread that starts a transfer while none is driving drives libcurl
/// itself for a moment (``patience``), because a nearby server answers sooner than a thread can be woken twice. Longer transfers are passed
/// to a thread that sleeps until it is needed. While answers are known to take longer, that thread gets the transfers at once, so that the
/// threads of the caller's tasks are not blocked needlessly.
final class CurlDriver: Sendable {
    private enum Command: Sendable {
        case start(PendingTransfer)
        case cancel(TransferHandle)
        case closeKept(String)
    }

    private enum Turn: Sendable { case free, taken, over }

    private struct Inbox {
        var commands: [Command] = []
        var turn = Turn.free
        /// Whether the driving thread will look for commands without a wake-up.
        var isAwake = false
        var threadRuns = false
        var answersAreQuick = true
        var isClosed = false
    }

    /// The maximum time for which a calling thread is blocked.
    static let patience = Duration.milliseconds(1)

    private let configuration: CurlConfiguration
    private let inbox = Mutex(Inbox())
    /// Wakes the driving thread. `curl_multi_wakeup` does so too, with four system calls instead of two, but must not be called once the
    /// handle may be gone.
    private let alarm = WakePipe()
    /// Makes this object's own thread the driving one.
    private let relay = WakePipe()
    /// Used only by the driving thread.
    private nonisolated(unsafe) var table: TransferTable?

    init(_ configuration: CurlConfiguration) { self.configuration = configuration }

    // MARK: From any thread

    func start(_ transfer: PendingTransfer) {
        enum Next { case refuse(String), wait, wake, drive, handOver }
        let next: Next = inbox.withLock { inbox in
            if inbox.isClosed { return .refuse("the HTTP client was closed") }
            if !transfer.ticket.start() { return .refuse("cancelled") }
            inbox.commands.append(.start(transfer))
            defer { inbox.isAwake = true }
            guard inbox.turn == .free else { return inbox.isAwake ? .wait : .wake }
            inbox.turn = .taken
            return inbox.answersAreQuick ? .drive : .handOver
        }
        switch next {
        case .refuse(let reason): transfer.continuation.resume(returning: .failure(transfer.error(.cancelled, reason)))
        case .wait: break
        case .wake: alarm?.ring()
        case .drive: if !drive(within: Self.patience) { handOver() }
        case .handOver: handOver()
        }
    }

    func cancel(_ ticket: TransferHandle) {
        guard ticket.cancel() else { return }
        tell { $0.commands.append(.cancel(ticket)) }
        // The driving thread may be in an endless handshake. Otherwise it finds the command before the end of the connection.
        ConnectingSockets.shared.shutDown(ticket)
    }

    func close(kept name: String) { tell { $0.commands.append(.closeKept(name)) } }

    func close() { tell { $0.isClosed = true } }

    /// Changes the inbox for the driving thread. If no thread is driving, this one drives and carries out the change at once.
    private func tell(_ change: (inout Inbox) -> Void) {
        let (isMine, mustWake) = inbox.withLock { inbox -> (Bool, Bool) in
            change(&inbox)
            guard inbox.isClosed || !inbox.commands.isEmpty, inbox.turn != .over else { return (false, false) }
            defer { inbox.isAwake = true }
            guard inbox.turn == .free else { return (false, !inbox.isAwake) }
            inbox.turn = .taken
            return (true, false)
        }
        if mustWake { alarm?.ring() }
        if isMine, !drive(within: .zero) { handOver() }
    }

    // MARK: On the driving thread

    /// Drives libcurl until there is nothing left to do or the time is over.
    /// - Returns: whether there was nothing left, so that this thread stops driving.
    private func drive(within limit: Duration?) -> Bool {
        let end = limit.map { ContinuousClock.now + $0 }
        while true {
            let (commands, turn) = look()
            switch turn {
            case .free: return true
            case .over:
                for case .start(let pending) in commands {
                    let error = pending.error(.cancelled, "the HTTP client was closed")
                    pending.continuation.resume(returning: .failure(error))
                }
                table?.closeAll()
                table = nil
                // The thread must also learn that the client was closed.
                relay?.ring()
                return true
            case .taken: break
            }
            for command in commands { obey(command) }
            table?.perform()
            guard let table, !table.isIdle else { continue }
            if let end, end <= .now { return false }
            sleep(
                table.multi, milliseconds: min(table.pollMilliseconds, end.map { _ in 1 } ?? table.pollMilliseconds))
        }
    }

    /// Sleeps until a transfer can continue, the alarm is rung, or the time is over.
    private func sleep(_ multi: UnsafeMutableRawPointer, milliseconds: Int32) {
        guard let alarm else { return }
        var waiting = curl_waitfd(fd: alarm.reader, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        guard curl.pointee.multi_poll(multi, &waiting, 1, milliseconds, nil) == CURLM_OK, waiting.revents != 0 else {
            return
        }
        alarm.drain()
    }

    /// Takes the pending commands, or stops driving if there is nothing to do. Once the client is closed the commands are still returned,
    /// because a caller waits for each.
    private func look() -> ([Command], Turn) {
        let isIdle = table?.isIdle ?? true
        let wasQuick = table?.lastWasQuick ?? true
        return inbox.withLock { inbox in
            inbox.answersAreQuick = wasQuick
            // From here on a thread that adds a command wakes this one, even before it sleeps.
            inbox.isAwake = false
            if inbox.isClosed {
                inbox.turn = .over
            } else if isIdle, inbox.commands.isEmpty {
                inbox.turn = .free
            }
            defer { inbox.commands.removeAll() }
            return (inbox.commands, inbox.turn)
        }
    }

    private func obey(_ command: Command) {
        switch command {
        case .start(let pending):
            if table == nil { table = TransferTable(configuration: configuration) }
            guard let table, alarm != nil, relay != nil else {
                let error = pending.error(.unreachable, "libcurl cannot be set up: out of memory or of descriptors")
                return pending.continuation.resume(returning: .failure(error))
            }
            table.start(pending)
        case .cancel(let ticket): table?.cancel(ticket)
        case .closeKept(let name): table?.close(kept: name)
        }
    }

    // MARK: The thread

    private func handOver() {
        let threadRuns = inbox.withLock { inbox in
            if !inbox.threadRuns { inbox.threadRuns = startThread { self.run() } == 0 }
            return inbox.threadRuns
        }
        // Without a thread the caller must wait until the end.
        if threadRuns { relay?.ring() } else { _ = drive(within: nil) }
    }

    private func run() {
        guard let relay else { return }
        while pollDescriptor(relay.reader, for: .readable) {
            relay.drain()
            let isOver = inbox.withLock { $0.turn == .over }
            if isOver { return }
            _ = drive(within: nil)
        }
    }
}

/// The sockets of TLS connections that are being set up, so that another thread can end them.
///
/// OpenSSL's handshake reads as long as there are bytes to read. A server can send messages that a client has to skip (HelloRequest: RFC
/// 5246, section 7.4.1.1) faster than they are read. Then the driving thread stays in the handshake without end, and checks neither
/// deadlines nor cancellations. After a shutdown of the socket, the kernel refuses further bytes and the handshake fails.
final class ConnectingSockets: Sendable {
    /// Shared, because descriptors belong to the process, and libcurl's connections live longer than the transfers and tables that began
    /// them.
    static let shared = ConnectingSockets()

    private struct Connecting {
        var ticket: TransferHandle
        var descriptors: [Int32]
        var timer: DeadlineTimer
    }

    /// One for each transfer that connects: few.
    private let all = Mutex<[Connecting]>([])

    /// How much later than the driving thread this enforces a deadline, in case the driving thread cannot.
    private static let grace = Duration.milliseconds(100)

    /// Records a socket that was opened for a transfer. There may be several, because a host may have several addresses.
    func opened(_ descriptor: Int32, for pending: PendingTransfer) {
        let ticket = pending.ticket
        all.withLock { all in
            if let index = all.firstIndex(where: { $0.ticket === ticket }) {
                all[index].descriptors.append(descriptor)
            } else {
                let deadline = MonotonicDeadline.after(ContinuousClock.now.duration(to: pending.limit) + Self.grace)
                let timer = DeadlineTimer.start(at: deadline) { Self.shared.shutDown(ticket) }
                all.append(Connecting(ticket: ticket, descriptors: [descriptor], timer: timer))
            }
        }
    }

    /// Closes a socket, whether it is recorded or not.
    func close(_ descriptor: Int32) -> Int32 {
        all.withLock { all in
            for index in all.indices { all[index].descriptors.removeAll { $0 == descriptor } }
        }
        return Glibc.close(descriptor)
    }

    /// Removes the sockets of a transfer that is connected or over.
    func forget(_ ticket: TransferHandle) {
        all.withLock { all in
            guard let index = all.firstIndex(where: { $0.ticket === ticket }) else { return }
            all.remove(at: index).timer.cancel()
        }
    }

    /// Returns the number of bytes that have come on the connections being set up for a transfer; nil if none was accepted yet.
    func received(_ ticket: TransferHandle) -> Int? {
        all.withLock { all in
            let descriptors = all.first { $0.ticket === ticket }?.descriptors ?? []
            let counts = descriptors.compactMap(TCPBytes.init).filter { $0.acknowledged > 0 }.map(\.received)
            return counts.max().map { Int(clamping: $0) }
        }
    }

    /// Ends the connections that are being set up for a transfer, except those that libcurl has closed.
    func shutDown(_ ticket: TransferHandle) {
        all.withLock { all in
            guard let index = all.firstIndex(where: { $0.ticket === ticket }) else { return }
            for descriptor in all[index].descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}

/// The bytes of a TCP connection, as the kernel counts them.
private struct TCPBytes {
    /// Sent bytes that the other end has acknowledged. The SYN counts as one, so this is 0 until the connection is accepted.
    var acknowledged: UInt64
    var received: UInt64

    /// Nil if the kernel does not count them (before Linux 4.1).
    init?(_ descriptor: Int32) {
        // Glibc's `tcp_info` ends before these: `tcpi_bytes_acked` and `tcpi_bytes_received` of linux/tcp.h.
        let offset = 120
        var info = [UInt8](repeating: 0, count: 136)
        var length = socklen_t(info.count)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0, length == info.count else {
            return nil
        }
        (acknowledged, received) = info.withUnsafeBytes {
            (
                $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                $0.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
            )
        }
    }
}
