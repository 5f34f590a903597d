import CCurl
import Glibc
import HTTPCore
import Synchronization

/// The thread on which all transfers of one client run, and the inbox through which everyone else speaks to it.
final class CurlDriver: Sendable {
    typealias Ticket = UInt64

    private enum Command: Sendable {
        case start(PendingTransfer)
        case cancel(Ticket)
        case closeKept(String)
    }

    private struct Inbox {
        var commands: [Command] = []
        /// Exists while the thread does. `curl_multi_wakeup` is called under the lock, so that it never meets a freed handle.
        var multi: Multi?
        var lastTicket: Ticket = 0
        var started: Set<Ticket> = []
        /// Cancelled before they were started, which happens when the calling task already was.
        var cancelledEarly: Set<Ticket> = []
        var isClosed = false
    }

    /// A pointer that is only used by the thread, but for waking it.
    struct Multi: @unchecked Sendable { let handle: UnsafeMutableRawPointer }

    private let configuration: CurlConfiguration
    private let inbox = Mutex(Inbox())

    init(_ configuration: CurlConfiguration) { self.configuration = configuration }

    // MARK: From any thread

    func ticket() -> Ticket {
        inbox.withLock {
            $0.lastTicket += 1
            return $0.lastTicket
        }
    }

    func start(_ transfer: PendingTransfer) {
        let refusal: HTTPError? = inbox.withLock { inbox in
            if inbox.isClosed { return transfer.error(.cancelled, "the HTTP client was closed") }
            if inbox.cancelledEarly.contains(transfer.ticket) { return transfer.error(.cancelled, "cancelled") }
            if inbox.multi == nil {
                guard let multi = startThread() else { return transfer.error(.unreachable, "no thread can be started") }
                inbox.multi = multi
            }
            inbox.started.insert(transfer.ticket)
            inbox.commands.append(.start(transfer))
            curl_multi_wakeup(inbox.multi?.handle)
            return nil
        }
        if let refusal { transfer.continuation.resume(returning: .failure(refusal)) }
    }

    func cancel(_ ticket: Ticket) {
        inbox.withLock { inbox in
            if inbox.started.contains(ticket) {
                inbox.commands.append(.cancel(ticket))
                if let multi = inbox.multi { curl_multi_wakeup(multi.handle) }
            } else {
                inbox.cancelledEarly.insert(ticket)
            }
        }
    }

    /// Whatever became of it, nobody asks for that ticket again.
    func forget(_ ticket: Ticket) {
        inbox.withLock {
            $0.started.remove(ticket)
            $0.cancelledEarly.remove(ticket)
        }
    }

    func close(kept name: String) {
        inbox.withLock { inbox in
            guard let multi = inbox.multi else { return }
            inbox.commands.append(.closeKept(name))
            curl_multi_wakeup(multi.handle)
        }
    }

    func close() {
        inbox.withLock { inbox in
            inbox.isClosed = true
            if let multi = inbox.multi { curl_multi_wakeup(multi.handle) }
        }
    }

    // MARK: The thread

    private func startThread() -> Multi? {
        guard isCurlReady, let handle = curl_multi_init() else { return nil }
        let start = Unmanaged.passRetained(ThreadStart(driver: self, multi: Multi(handle: handle)))
        var thread = pthread_t()
        guard pthread_create(&thread, nil, runDriver, start.toOpaque()) == 0 else {
            start.release()
            curl_multi_cleanup(handle)
            return nil
        }
        pthread_detach(thread)
        return Multi(handle: handle)
    }

    fileprivate func run(_ multi: Multi) {
        let transfers = TransferTable(multi: multi.handle, configuration: configuration)
        while true {
            let (commands, isClosed) = inbox.withLock { inbox in
                defer { inbox.commands = [] }
                return (inbox.commands, inbox.isClosed)
            }
            for command in commands {
                switch command {
                case .start(let pending): transfers.start(pending)
                case .cancel(let ticket): transfers.cancel(ticket)
                case .closeKept(let name): transfers.close(kept: name)
                }
            }
            if isClosed { break }
            transfers.perform()
            curl_multi_poll(multi.handle, nil, 0, transfers.pollMilliseconds, nil)
        }
        inbox.withLock { $0.multi = nil }
        transfers.closeAll()
        curl_multi_cleanup(multi.handle)
    }
}

private final class ThreadStart: Sendable {
    let driver: CurlDriver
    let multi: CurlDriver.Multi
    init(driver: CurlDriver, multi: CurlDriver.Multi) {
        self.driver = driver
        self.multi = multi
    }
}

private func runDriver(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
    start.driver.run(start.multi)
    return nil
}

/// libcurl's one-time initialization, which must not run on two threads at once.
private let isCurlReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
