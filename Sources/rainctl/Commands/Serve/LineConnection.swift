// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainIO
import RainKit
import Synchronization

/// The two descriptors to one client. One thread reads them and waits for them; any thread may send lines.
///
/// Small answers are written at once by the thread that has them. Bytes that the client does not take are kept up to ``maximumUnread``; then
/// the client counts as gone.
final class LineConnection: Sendable {
    /// The thread's events, in order.
    struct Events: Sendable {
        var received: @Sendable ([UInt8]) -> Void
        /// The client sends nothing more, but may still read.
        var ended: @Sendable () -> Void
        /// The client does not read any more.
        var lost: @Sendable () -> Void
    }

    /// The limit for output that the client has not read.
    static let maximumUnread = 16 << 20
    /// How long the last lines may wait for a client that reads slowly.
    private static let patience = Duration.seconds(5)
    /// A pipe that can be written takes this many bytes without blocking (`PIPE_BUF`).
    private static let piece = 4096

    private struct State {
        var unsent: [UInt8] = []
        var isLost = false
        /// Set when nothing more is to be sent.
        var deadline: MonotonicDeadline?
    }

    private let input: Int32
    private let output: Int32
    private let wakeup: WakePipe
    private let state = Mutex(State())

    /// - Parameters:
    ///   - input: the descriptor of requests, which stays open.
    ///   - output: the descriptor of answers, which may be the same one.
    /// - Throws: `temporary` if the system has no descriptors left.
    init(input: Int32, output: Int32) throws(CommandFailure) {
        guard let wakeup = WakePipe() else {
            throw CommandFailure(
                .temporary, reason: "no_descriptors",
                message: "The system could not create a pipe: \(systemErrorText(errno)).")
        }
        (self.input, self.output, self.wakeup) = (input, output, wakeup)
    }

    /// Sends a line; does nothing if the client is gone.
    func send(_ line: String) {
        let needsThread = state.withLock { state in
            guard !state.isLost else { return false }
            state.unsent += line.utf8
            state.unsent.append(0x0A)
            write(&state)
            if state.unsent.count > Self.maximumUnread { state.isLost = true }
            return state.isLost || !state.unsent.isEmpty
        }
        if needsThread { wakeup.ring() }
    }

    /// Lets ``run(_:)`` return once everything is sent.
    func finish() {
        state.withLock { $0.deadline = $0.deadline ?? .after(Self.patience) }
        wakeup.ring()
    }

    /// Reads and writes until ``finish()``. Blocks the thread.
    func run(_ events: Events) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var (hasEnded, hasLost) = (false, false)
        while true {
            let (wantsToWrite, isLost, deadline) = state.withLock { (!$0.unsent.isEmpty, $0.isLost, $0.deadline) }
            if isLost, !hasLost {
                hasLost = true
                events.lost()
            }
            if let deadline, isLost || !wantsToWrite || deadline.isOver { return }
            var polled: [PollEntry] = [
                .readable(wakeup.reader), .readable(hasEnded ? nil : input),
                // Without events, only the end of the other side is reported.
                PollEntry(isLost ? nil : output, for: wantsToWrite ? .writable : []),
            ]
            guard case .failed = pollDescriptors(&polled, until: deadline) else {
                if polled[0].isReady { wakeup.drain() }
                if polled[1].isReady { read(&buffer, &hasEnded, events) }
                take(polled[2].found)
                continue
            }
            return events.lost()
        }
    }

    private func read(_ buffer: inout [UInt8], _ hasEnded: inout Bool, _ events: Events) {
        let count = Glibc.read(input, &buffer, buffer.count)
        if count > 0 { return events.received(Array(buffer[..<count])) }
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        hasEnded = true
        events.ended()
    }

    private func take(_ found: PollEvents) {
        guard !found.isEmpty else { return }
        state.withLock { state in
            if found.contains(.writable) { write(&state) }
            if !found.isDisjoint(with: [.hungUp, .failed]) { state.isLost = true }
        }
    }

    /// Writes as much as the client takes now.
    private func write(_ state: inout State) {
        var start = 0
        while start < state.unsent.count {
            guard pollDescriptor(output, for: .writable, until: .after(.zero)) else { break }
            let end = min(start + Self.piece, state.unsent.count)
            let count = state.unsent.withUnsafeBytes { Glibc.write(output, $0.baseAddress! + start, end - start) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno != EAGAIN { state.isLost = true }
                break
            }
            start += count
        }
        if start == state.unsent.count {
            state.unsent.removeAll(keepingCapacity: start <= 64 << 10)
        } else {
            state.unsent.removeFirst(start)
        }
        if state.isLost { state.unsent = [] }
    }
}
