// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// What the stream's thread does.
extension StreamLoop {
    func run() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        // A layer may hold bytes for which the descriptor does not become readable: it is read until it has none.
        var mayHoldInput = descriptor.mayHoldInput
        while let (events, deadline) = next() {
            let readsAnyway = mayHoldInput && events.contains(.readable)
            var polled: [PollEntry] = [
                .readable(wakeup.reader), PollEntry(events.isEmpty ? nil : descriptor.number, for: events),
            ]
            if case .failed = pollDescriptors(&polled, until: readsAnyway ? .after(.zero) : deadline) { break }
            if polled[0].isReady { wakeup.drain() }
            let found = polled[1].found
            if readsAnyway || events.contains(.readable) && !found.isDisjoint(with: .input) {
                mayHoldInput = receive(&buffer) && descriptor.mayHoldInput
            }
            if events.contains(.writable), !found.isDisjoint(with: [.writable, .hungUp, .failed]) { send() }
            expire()
        }
        finish()
    }

    /// What to poll for and until when; nil when the stream is to be closed.
    private func next() -> (PollEvents, MonotonicDeadline?)? {
        state.withLock { state in
            if state.isClosing { return nil }
            var events: PollEvents = []
            let isHeldBack = descriptor.holdsBackInput && state.isInputFull
            if state.inputEnd == nil, !isHeldBack { events.insert(.readable) }
            if !state.writes.isEmpty { events.insert(.writable) }
            return (events, state.writes.compactMap(\.deadline).min())
        }
    }

    /// - Returns: whether there may be more.
    private func receive(_ buffer: inout [UInt8]) -> Bool {
        let count = descriptor.read(into: &buffer)
        let code = errno
        if count < 0, code == EAGAIN || code == EINTR { return false }
        if count > 0 {
            let ended = state.withLock { $0.append(buffer[..<count], dropsOldest: !descriptor.holdsBackInput) }
            if let (reader, bytes) = ended { reader.resume(returning: .success(bytes)) }
            return true
        }
        switch descriptor {
        case .socket where count == 0, .layered where count == 0:
            // The other side may go on reading.
            endInput(ByteStreamError(.ended, peer: peer, message: "The other side has closed the connection."))
        case .socket, .layered: end(lost(code))
        case .terminal:
            // A terminal that hung up reads as end of file; a USB adapter that was pulled as EIO or ENXIO.
            end(
                ByteStreamError(
                    .ended, peer: peer, message: "The terminal is gone.", systemError: count < 0 ? code : nil))
        }
        return false
    }

    private func send() {
        var finished: [StreamState.Writer] = []
        let failure: Int32? = state.withLock { state in
            while let write = state.writes.first {
                let count = descriptor.write(write.bytes[write.position...])
                guard count >= 0 else { return errno == EAGAIN || errno == EINTR ? nil : errno }
                state.writes[0].position += count
                if state.writes[0].position == write.bytes.count { finished.append(state.writes.removeFirst().writer) }
            }
            return nil
        }
        for writer in finished { writer.resume(returning: nil) }
        guard let failure else { return }
        switch descriptor {
        // What the other side had sent before can still be read.
        case .socket, .layered: endOutput(lost(failure))
        case .terminal: end(lost(failure))
        }
    }

    private func expire() {
        for writer in state.withLock({ $0.expireWrites() }) {
            let message = "The other side did not take all bytes in time."
            writer.resume(returning: ByteStreamError(.timedOut, peer: peer, message: message))
        }
    }

    private func lost(_ code: Int32) -> ByteStreamError {
        ByteStreamError(.lost, peer: peer, message: "The connection is lost: \(errorText(code)).", systemError: code)
    }

    private func endInput(_ error: ByteStreamError) {
        state.withLock { $0.endInput(error) }?.resume(returning: .failure(error))
    }

    private func endOutput(_ error: ByteStreamError) {
        for writer in state.withLock({ $0.endOutput(error) }) { writer.resume(returning: error) }
    }

    /// Ends every waiting call, and every later one, with the reason why the stream is over.
    private func end(_ error: ByteStreamError) {
        endInput(error)
        endOutput(error)
    }

    private func finish() {
        let hasUnsent = state.withLock { !$0.writes.isEmpty }
        end(ByteStreamError(.closed, peer: peer, message: "The stream was closed."))
        descriptor.close(hasUnsent: hasUnsent)
        let closers = state.withLock { state in
            state.isFinished = true
            _ = state.takeInput()
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }
}
