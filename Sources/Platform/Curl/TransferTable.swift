// SPDX-License-Identifier: Apache-2.0
import CRainCurl
import RainHTTP
import Synchronization

/// All transfers of one client, and the connections that are kept by name. Only one thread at a time uses it.
final class TransferTable {
    let multi: UnsafeMutableRawPointer
    /// Whether the last finished transfer took no longer than ``CurlDriver/patience``.
    private(set) var lastWasQuick = true
    private let configuration: CurlConfiguration
    private var running: [UnsafeMutableRawPointer: Transfer] = [:]
    /// The earliest deadline of the transfers, which may have been that of a finished one.
    private var nextLimit: ContinuousClock.Instant?
    /// The transfers that were running when another one met its deadline. They may use the same connection, which may be dead.
    private var suspects: Set<UnsafeMutableRawPointer> = []
    private var kept: [String: KeptConnection] = [:]
    private var uses = 0
    /// Handles of successful transfers, to be used again: setting up a handle takes longer than the answer of a nearby server.
    private var idleHandles: [UnsafeMutableRawPointer] = []

    /// A separate connection cache for one name, so that no other request uses that connection, and the requests that wait for it. They run
    /// one after the other.
    private final class KeptConnection {
        let share: UnsafeMutableRawPointer
        var isBusy = false
        var isClosing = false
        var waiting: [PendingTransfer] = []
        var lastUse = 0

        init?() {
            guard let share = curl.pointee.share_init() else { return nil }
            rk_curl_share_connections(curl, share)
            self.share = share
        }

        deinit { _ = curl.pointee.share_cleanup(share) }
    }

    private static let maximumIdleHandles = 4
    /// How many connections to one host are open at the same time. Further requests wait for one of them: a server that gets a connection for
    /// each of a thousand boards refuses most of them.
    private static let maximumConnections = 32
    /// No machine that we know of uses more names at once. The longest unused one is closed for a new one.
    private static let maximumKept = 32

    init?(configuration: CurlConfiguration) {
        guard let multi = curl.pointee.multi_init() else { return nil }
        self.multi = multi
        self.configuration = configuration
        rk_curl_limit_connections(curl, multi, Self.maximumConnections)
    }

    deinit { _ = curl.pointee.multi_cleanup(multi) }

    /// Whether no transfer is running. A request that waits for a kept connection always waits for a running transfer.
    var isIdle: Bool { running.isEmpty }

    func start(_ pending: PendingTransfer) {
        guard case .kept(let name) = pending.request.connection else { return begin(pending, share: nil) }
        guard let connection = connection(kept: name) else {
            return finish(pending, .failure(pending.error(.unreachable, "out of memory")))
        }
        uses += 1
        connection.lastUse = uses
        guard !connection.isBusy else { return connection.waiting.append(pending) }
        connection.isBusy = true
        begin(pending, share: connection.share)
    }

    func cancel(_ ticket: TransferHandle) {
        if let (easy, transfer) = running.first(where: { $0.value.pending.ticket === ticket }) {
            end(easy, transfer, .failure(transfer.cancelled("cancelled")))
            return
        }
        for connection in kept.values {
            guard let index = connection.waiting.firstIndex(where: { $0.ticket === ticket }) else { continue }
            let pending = connection.waiting.remove(at: index)
            finish(pending, .failure(pending.error(.cancelled, "cancelled")))
        }
    }

    func close(kept name: String) {
        guard let connection = kept[name] else { return }
        if connection.isBusy { connection.isClosing = true } else { kept[name] = nil }
    }

    /// Lets libcurl work on all ready transfers, and returns the finished ones to their callers.
    func perform() {
        if !kept.isEmpty { expireWaiting() }
        var count: Int32 = 0
        _ = curl.pointee.multi_perform(multi, &count)
        var left: Int32 = 0
        while let message = curl.pointee.multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let transfer = running[easy]
            else { continue }
            lastWasQuick = transfer.began.duration(to: .now) <= CurlDriver.patience
            end(easy, transfer, outcome(of: transfer, message.pointee.data.result))
        }
        expireRunning()
    }

    /// A connection that was shut down because of a deadline or a cancellation ends with another error.
    private func outcome(of transfer: Transfer, _ result: CURLcode) -> Result<HTTPResponse, HTTPError> {
        let pending = transfer.pending
        if result != CURLE_OK, pending.ticket.isCancelled { return .failure(transfer.cancelled("cancelled")) }
        return transfer.outcome(result != CURLE_OK && pending.limit <= .now ? CURLE_OPERATION_TIMEDOUT : result)
    }

    /// The table enforces the deadlines, not libcurl. If libcurl ended a transfer, the next one would get its HTTP/2 connection, and would
    /// wait without success if the path to the server is silently broken.
    private func expireRunning() {
        guard let earliest = nextLimit, earliest <= .now else { return }
        let expired = running.filter { $0.value.pending.limit <= .now }
        for (easy, transfer) in expired {
            lastWasQuick = false
            end(easy, transfer, transfer.outcome(CURLE_OPERATION_TIMEDOUT))
            guard transfer.pending.request.connection == .pooled else { continue }
            let host = transfer.pending.target.host
            let others = running.filter { $0.value.isPooled(to: host) }
            suspects.formUnion(others.keys)
        }
        nextLimit = running.values.lazy.map(\.pending.limit).min()
    }

    /// The maximum time to sleep; libcurl wakes earlier for its own timers.
    var pollMilliseconds: Int32 {
        var next = nextLimit
        for connection in kept.values {
            for pending in connection.waiting where pending.limit < next ?? pending.limit + .seconds(1) {
                next = pending.limit
            }
        }
        guard let next else { return 60_000 }
        return Int32(clamping: milliseconds(until: next))
    }

    func closeAll() {
        for connection in kept.values {
            for pending in connection.waiting { finish(pending, .failure(pending.error(.cancelled, "closed"))) }
            connection.waiting = []
        }
        for (easy, transfer) in running {
            end(easy, transfer, .failure(transfer.pending.error(.cancelled, "the HTTP client was closed")))
        }
        kept = [:]
        for easy in idleHandles { curl.pointee.easy_cleanup(easy) }
        idleHandles = []
    }

    private func begin(_ pending: PendingTransfer, share: UnsafeMutableRawPointer?) {
        // A transfer that shares a connection gets its own handle, because a handle cannot move from one share to another.
        let idle = share == nil ? idleHandles.popLast() : nil
        guard let easy = idle ?? Transfer.makeHandle(configuration) else {
            finish(pending, .failure(pending.error(.unreachable, "out of memory")))
            return release(pending)
        }
        let transfer = Transfer(pending, easy: easy, share: share, configuration)
        if suspects.contains(where: { running[$0].map { $0.isPooled(to: pending.target.host) } ?? false }),
            pending.request.connection == .pooled
        {
            transfer.keepApart()
        }
        running[transfer.easy] = transfer
        nextLimit = min(nextLimit ?? pending.limit, pending.limit)
        _ = curl.pointee.multi_add_handle(multi, transfer.easy)
    }

    /// Removing a handle during a transfer closes its connection, so the server sees the cancellation. A connection that others use as well
    /// is closed with the last of them, unless that one succeeds.
    private func end(
        _ easy: UnsafeMutableRawPointer, _ transfer: Transfer, _ result: Result<HTTPResponse, HTTPError>
    ) {
        running[easy] = nil
        suspects.remove(easy)
        ConnectingSockets.shared.forget(transfer.pending.ticket)
        if case .failure = result { transfer.leaveNoConnection() }
        _ = curl.pointee.multi_remove_handle(multi, easy)
        transfer.cleanUp()
        if case .success = result, transfer.pending.request.connection == .pooled,
            idleHandles.count < Self.maximumIdleHandles
        {
            idleHandles.append(easy)
        } else {
            curl.pointee.easy_cleanup(easy)
        }
        finish(transfer.pending, result)
        release(transfer.pending)
    }

    private func finish(_ pending: PendingTransfer, _ result: Result<HTTPResponse, HTTPError>) {
        pending.continuation.resume(returning: result)
    }

    // MARK: Kept connections

    private func connection(kept name: String) -> KeptConnection? {
        if let connection = kept[name] { return connection }
        let idle = kept.filter { !$0.value.isBusy }
        if kept.count >= Self.maximumKept, let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            kept[oldest.key] = nil
        }
        let connection = KeptConnection()
        kept[name] = connection
        return connection
    }

    /// Gives the connection to the next transfer that waits.
    private func release(_ pending: PendingTransfer) {
        guard case .kept(let name) = pending.request.connection, let connection = kept[name] else { return }
        if !connection.waiting.isEmpty {
            begin(connection.waiting.removeFirst(), share: connection.share)
        } else {
            connection.isBusy = false
            if connection.isClosing { kept[name] = nil }
        }
    }

    private func expireWaiting() {
        for connection in kept.values where !connection.waiting.isEmpty {
            let expired = connection.waiting.filter { $0.limit <= .now }
            connection.waiting.removeAll { $0.limit <= .now }
            for pending in expired {
                finish(pending, .failure(pending.error(.timeout, "the connection was busy until the deadline")))
            }
        }
    }
}

/// Rounded up, so that the thread does not wake too early; at least 1, as 0 means no limit to libcurl.
func milliseconds(until limit: ContinuousClock.Instant) -> Int64 {
    let left = ContinuousClock.now.duration(to: limit).components
    return max(1, left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1)
}

/// A request for libcurl, and the caller that waits for the outcome.
final class PendingTransfer: Sendable {
    let ticket: TransferHandle
    let request: HTTPRequest
    let target: RequestTarget
    let continuation: CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>
    let limit: ContinuousClock.Instant

    init(
        ticket: TransferHandle, request: HTTPRequest, target: RequestTarget,
        continuation: CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>
    ) {
        self.ticket = ticket
        self.request = request
        self.target = target
        self.continuation = continuation
        limit = .now + request.deadline
    }

    func error(_ code: HTTPError.Code, _ message: String) -> HTTPError {
        HTTPError(code, host: target.host, message: message)
    }
}

/// Identifies one transfer, so that it can be cancelled, and records whether its start or its cancellation came first. The cancellation
/// comes first if the calling task was already cancelled.
final class TransferHandle: Sendable {
    private enum State: Int, AtomicRepresentable { case new, started, cancelled }

    private let state = Atomic(State.new)

    /// Returns false if it is already cancelled.
    func start() -> Bool {
        state.compareExchange(expected: .new, desired: .started, ordering: .acquiringAndReleasing).exchanged
    }

    /// Whether the caller has cancelled it.
    var isCancelled: Bool { state.load(ordering: .acquiring) == .cancelled }

    /// Returns whether it was started before, so that there is a transfer to stop.
    func cancel() -> Bool { state.exchange(.cancelled, ordering: .acquiringAndReleasing) == .started }
}
