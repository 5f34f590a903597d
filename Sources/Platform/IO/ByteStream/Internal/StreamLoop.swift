// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The thread that serves one stream: it alone reads, writes and closes the descriptor.
final class StreamLoop: Sendable {
    let descriptor: StreamDescriptor
    let peer: String
    let state = Mutex(StreamState())
    /// Makes the thread look at the state.
    let wakeup: WakePipe

    private init(_ descriptor: StreamDescriptor, peer: String, wakeup: WakePipe) {
        self.descriptor = descriptor
        self.peer = peer
        self.wakeup = wakeup
    }

    static func start(_ descriptor: StreamDescriptor, peer: String) throws(ByteStreamError) -> StreamLoop {
        guard let wakeup = WakePipe() else {
            let code = errno
            descriptor.close(hasUnsent: false)
            throw ByteStreamError(
                .failed, peer: peer, message: "The system gives no pipe: \(errorText(code)).", systemError: code)
        }
        let loop = StreamLoop(descriptor, peer: peer, wakeup: wakeup)
        // The thread keeps the loop alive until it has closed the descriptor.
        let code = startThread { loop.run() }
        guard code == 0 else {
            descriptor.close(hasUnsent: false)
            throw ByteStreamError(
                .failed, peer: peer, message: "The system starts no thread: \(errorText(code)).", systemError: code)
        }
        return loop
    }

    func read() async throws(ByteStreamError) -> [UInt8] {
        let reader = StreamState.Reader()
        enum Step { case finished(Result<[UInt8], ByteStreamError>), wait(instead: StreamState.Reader?) }
        let (step, wasFull) = state.withLock { state -> (Step, Bool) in
            let wasFull = state.isInputFull
            if !state.input.isEmpty { return (.finished(.success(state.takeInput())), wasFull) }
            if let end = state.inputEnd { return (.finished(.failure(end)), false) }
            if Task.isCancelled { return (.finished(.failure(cancelled)), false) }
            defer { state.reader = reader }
            return (.wait(instead: state.reader), false)
        }
        if wasFull { wakeup.ring() }
        switch step {
        case .finished(let result): return try result.get()
        case .wait(let replaced): replaced?.resume(returning: .failure(cancelled))
        }
        let result = await reader.value {
            let isWaiting = state.withLock { state in
                guard state.reader === reader else { return false }
                state.reader = nil
                return true
            }
            // Otherwise bytes are on their way to it, which must not be lost.
            if isWaiting { reader.resume(returning: .failure(cancelled)) }
        }
        return try result.get()
    }

    func readAvailable() -> [UInt8] {
        let (bytes, wasFull) = state.withLock { state in
            let wasFull = state.isInputFull
            return (state.takeInput(), wasFull)
        }
        if wasFull { wakeup.ring() }
        return bytes
    }

    func write(_ bytes: [UInt8], within limit: Duration?) async throws(ByteStreamError) {
        guard !bytes.isEmpty else { return }
        let writer = StreamState.Writer()
        let deadline = limit.map(MonotonicDeadline.after)
        let end = state.withLock { state -> ByteStreamError? in
            if let end = state.outputEnd { return end }
            if Task.isCancelled { return cancelled }
            state.writes.append(.init(bytes: bytes, deadline: deadline, writer: writer))
            return nil
        }
        if let end { throw end }
        wakeup.ring()
        let error = await writer.value {
            state.withLock { state in state.writes.removeAll { $0.writer === writer } }
            writer.resume(returning: cancelled)
        }
        if let error { throw error }
    }

    func requestClose() {
        state.withLock { $0.isClosing = true }
        wakeup.ring()
    }

    func close() async {
        let closer = Waiter<Void>()
        let isFinished = state.withLock { state in
            state.isClosing = true
            if !state.isFinished { state.closers.append(closer) }
            return state.isFinished
        }
        if isFinished { return }
        wakeup.ring()
        await closer.value()
    }

    private var cancelled: ByteStreamError {
        ByteStreamError(.cancelled, peer: peer, message: "The operation was cancelled.")
    }
}
