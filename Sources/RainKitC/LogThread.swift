// SPDX-License-Identifier: Apache-2.0
import CRainKit
import Glibc
import Logging
import RainIO
import RainKit
import Synchronization

/// Passes log lines to the host's logger on a thread of its own, so that a logger that blocks delays nothing else.
final class LogThread: Sendable {
    /// How many lines wait for a slow logger. More are dropped, and the next line says how many.
    private static let maximumWaiting = 10_000

    private struct State {
        var lines: [(level: Int32, text: String)] = []
        var dropped = 0
        var isClosed = false
        /// Whether no more lines are delivered, although some wait.
        var isGivenUp = false
        var thread: pthread_t?
    }

    private struct Host: @unchecked Sendable {
        // The header says that the logger may be called on any thread.
        let call: rainkit_logger
        let context: UnsafeMutableRawPointer?
    }

    private let state = Mutex(State())
    private let wake: WakePipe
    private let ended = DispatchedWait()
    private let host: Host
    private let level: Logger.Level

    /// - Returns: nil if the options have no logger.
    init?(_ options: rainkit_client_options) throws {
        switch options.log_level {
        case Int32(RAINKIT_LOG_OFF): return nil
        case Int32(RAINKIT_LOG_WARNING): level = .warning
        case Int32(RAINKIT_LOG_DEBUG): level = .debug
        case Int32(RAINKIT_LOG_TRACE): level = .trace
        default:
            throw RainKitError(.request(.usage, reason: "usage"), message: "log_level is not one of RAINKIT_LOG_….")
        }
        guard let call = options.logger else { return nil }
        guard let wake = WakePipe() else { throw CallError.temporary }
        self.wake = wake
        host = Host(call: call, context: options.logger_context)
        guard startThread({ [self] in run() }) == 0 else { throw CallError.temporary }
    }

    var logger: Logger {
        Logger(label: "rainkit") { [self] _ in LineHandler(log: self, logLevel: level) }
    }

    /// Ends the thread once it has delivered the lines that wait.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.ring()
    }

    /// Waits until the logger has returned from its last call. Lines that a slow logger has not taken by then are not delivered. Does not
    /// wait if the logger itself is the caller.
    func waitForEnd(atMost limit: Duration) {
        close()
        let isOwnThread = state.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
        if !isOwnThread { ended.wait(atMost: limit) }
        state.withLock { $0.isGivenUp = true }
    }

    fileprivate func add(_ level: Int32, _ text: String) {
        state.withLock { state in
            guard !state.isClosed else { return }
            if state.lines.count < Self.maximumWaiting {
                state.lines.append((level, text))
            } else {
                state.dropped += 1
            }
        }
        wake.ring()
    }

    private func run() {
        state.withLock { $0.thread = pthread_self() }
        defer { ended.end() }
        while true {
            let (lines, dropped, isClosed) = state.withLock { state in
                defer { (state.lines, state.dropped) = ([], 0) }
                return (state.lines, state.dropped, state.isClosed)
            }
            for line in lines { deliver(line.level, line.text) }
            if dropped > 0 {
                deliver(Int32(RAINKIT_LOG_WARNING), "\(dropped) lines of the log were dropped")
            }
            if isClosed { return }
            var entry = pollfd(fd: wake.reader, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, -1)
            wake.drain()
        }
    }

    private func deliver(_ level: Int32, _ text: String) {
        if state.withLock({ $0.isGivenUp }) { return }
        let text = CText(text)
        host.call(host.context, level, text.string)
    }
}

/// Makes a line of a message and its metadata, in the form of `rainctl --log-format text` without the time.
private struct LineHandler: LogHandler {
    let log: LogThread
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let pairs = all.sorted { $0.key < $1.key }.map { " \($0.key)=\("\($0.value)".onOneLine)" }.joined()
        let level =
            switch event.level {
            case .trace: RAINKIT_LOG_TRACE
            case .debug, .info, .notice: RAINKIT_LOG_DEBUG
            default: RAINKIT_LOG_WARNING
            }
        log.add(Int32(level), "\("\(event.message)".onOneLine)\(pairs)")
    }
}
