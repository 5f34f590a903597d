import Glibc
import Synchronization
import RainWaiting

/// The thread that serves one port: it alone reads, writes and closes the descriptor.
final class PortLoop: Sendable {
    private typealias ReadContinuation = CheckedContinuation<Result<[UInt8], SerialPortError>, Never>
    private typealias WriteContinuation = CheckedContinuation<SerialPortError?, Never>

    private struct PendingRead {
        var id: Int
        var continuation: ReadContinuation
    }

    private struct PendingWrite {
        var id: Int
        var bytes: [UInt8]
        var position = 0
        var continuation: WriteContinuation
    }

    private struct State {
        var input: [UInt8] = []
        var reader: PendingRead?
        var writers: [PendingWrite] = []
        var nextID = 0
        /// Why nothing more will arrive.
        var end: SerialPortError?
        var isClosing = false
        var isFinished = false
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private let terminal: Terminal
    /// Interrupts `poll`.
    private let wakeup: WakePipe
    private let state = Mutex(State())

    private init(_ terminal: Terminal, wakeup: WakePipe) {
        self.terminal = terminal
        self.wakeup = wakeup
    }

    static func start(_ terminal: Terminal) throws(SerialPortError) -> PortLoop {
        guard let wakeup = WakePipe() else {
            let reason = errorText(errno)
            terminal.close(discardingOutput: false)
            throw SerialPortError(.failed, path: terminal.path, message: "No pipe: \(reason).")
        }
        let loop = PortLoop(terminal, wakeup: wakeup)
        // The thread keeps the loop alive until it has closed the port.
        let code = startThread { loop.run() }
        guard code == 0 else {
            terminal.close(discardingOutput: false)
            throw SerialPortError(.failed, path: terminal.path, message: "No thread: \(errorText(code)).")
        }
        return loop
    }
}

// MARK: - For callers

extension PortLoop {
    func read() async throws(SerialPortError) -> [UInt8] {
        let id = newID()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: ReadContinuation) in
                let (outcome, replaced) = state.withLock { state -> (Result<[UInt8], SerialPortError>?, PendingRead?) in
                    if !state.input.isEmpty { return (.success(take(&state)), nil) }
                    if let end = state.end { return (.failure(end), nil) }
                    if Task.isCancelled { return (.failure(cancelled), nil) }
                    let replaced = state.reader
                    state.reader = PendingRead(id: id, continuation: continuation)
                    return (nil, replaced)
                }
                if let outcome { continuation.resume(returning: outcome) }
                replaced?.continuation.resume(returning: .failure(cancelled))
            }
        } onCancel: {
            let reader = state.withLock { state -> PendingRead? in
                guard state.reader?.id == id else { return nil }
                defer { state.reader = nil }
                return state.reader
            }
            reader?.continuation.resume(returning: .failure(cancelled))
        }
        return try result.get()
    }

    func readAvailable() -> [UInt8] { state.withLock { take(&$0) } }

    func write(_ bytes: [UInt8]) async throws(SerialPortError) {
        guard !bytes.isEmpty else { return }
        let id = newID()
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: WriteContinuation) in
                let error = state.withLock { state -> SerialPortError? in
                    if let end = state.end { return end }
                    if Task.isCancelled { return cancelled }
                    state.writers.append(PendingWrite(id: id, bytes: bytes, continuation: continuation))
                    return nil
                }
                if let error { continuation.resume(returning: error) } else { wakeup.ring() }
            }
        } onCancel: {
            let writer = state.withLock { state -> PendingWrite? in
                guard let index = state.writers.firstIndex(where: { $0.id == id }) else { return nil }
                return state.writers.remove(at: index)
            }
            writer?.continuation.resume(returning: cancelled)
        }
        if let error { throw error }
    }

    func requestClose() {
        state.withLock { $0.isClosing = true }
        wakeup.ring()
    }

    func close() async {
        await withCheckedContinuation { continuation in
            let isFinished = state.withLock { state in
                state.isClosing = true
                if !state.isFinished { state.closers.append(continuation) }
                return state.isFinished
            }
            if isFinished { continuation.resume() } else { wakeup.ring() }
        }
    }

    private var cancelled: SerialPortError {
        SerialPortError(.cancelled, path: terminal.path, message: "The operation was cancelled.")
    }

    private func newID() -> Int {
        state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
    }

    private func take(_ state: inout State) -> [UInt8] {
        defer { state.input = [] }
        return state.input
    }
}

// MARK: - On the thread

extension PortLoop {
    private func run() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let (isClosing, wantsToWrite, hasEnded) = state.withLock {
                ($0.isClosing, !$0.writers.isEmpty, $0.end != nil)
            }
            if isClosing { break }
            var polled = [
                pollfd(fd: wakeup.reader, events: Int16(POLLIN), revents: 0),
                pollfd(
                    fd: hasEnded ? -1 : terminal.descriptor,
                    events: Int16(POLLIN) | (wantsToWrite ? Int16(POLLOUT) : 0),
                    revents: 0),
            ]
            guard poll(&polled, 2, -1) >= 0 || errno == EINTR else { break }
            if polled[0].revents != 0 {
                wakeup.drain()
            }
            let events = polled[1].revents
            if events & Int16(POLLIN | POLLHUP | POLLERR | POLLNVAL) != 0 { receive(&buffer) }
            if events & Int16(POLLOUT) != 0 { send() }
        }
        finish()
    }

    private func receive(_ buffer: inout [UInt8]) {
        let count = Glibc.read(terminal.descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        // A hung-up terminal reads as end of file; a vanished USB adapter as EIO or ENXIO.
        guard count > 0 else {
            return end(
                SerialPortError(
                    .lost, path: terminal.path,
                    message: "The port is gone. Check the cable, and that the board has power."))
        }
        let reader = state.withLock { state -> (ReadContinuation, [UInt8])? in
            state.input.append(contentsOf: buffer[..<count])
            if state.input.count > SerialPort.inputCapacity {
                state.input.removeFirst(state.input.count - SerialPort.inputCapacity)
            }
            guard let reader = state.reader else { return nil }
            state.reader = nil
            return (reader.continuation, take(&state))
        }
        if let (continuation, bytes) = reader { continuation.resume(returning: .success(bytes)) }
    }

    private func send() {
        var finished: [WriteContinuation] = []
        var failure: SerialPortError?
        state.withLock { state in
            while !state.writers.isEmpty {
                let count = state.writers[0].bytes[state.writers[0].position...].withUnsafeBytes {
                    Glibc.write(terminal.descriptor, $0.baseAddress, $0.count)
                }
                if count < 0 {
                    if errno != EAGAIN, errno != EINTR {
                        failure = SerialPortError(
                            .lost, path: terminal.path,
                            message: "The port does not take any more bytes: \(errorText(errno)).")
                    }
                    return
                }
                state.writers[0].position += count
                if state.writers[0].position == state.writers[0].bytes.count {
                    finished.append(state.writers.removeFirst().continuation)
                }
            }
        }
        for continuation in finished { continuation.resume(returning: nil) }
        if let failure { end(failure) }
    }

    /// Tells everyone who waits, and everyone who comes, why there is no more.
    private func end(_ error: SerialPortError) {
        let (reader, writers) = state.withLock { state in
            state.end = state.end ?? error
            defer {
                state.reader = nil
                state.writers = []
            }
            return (state.reader, state.writers)
        }
        reader?.continuation.resume(returning: .failure(error))
        for writer in writers { writer.continuation.resume(returning: error) }
    }

    private func finish() {
        let hasUnsent = state.withLock { !$0.writers.isEmpty }
        end(SerialPortError(.closed, path: terminal.path, message: "The port was closed."))
        terminal.close(discardingOutput: hasUnsent || !terminal.empties())
        let closers = state.withLock { state in
            state.isFinished = true
            state.input = []
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }
}
