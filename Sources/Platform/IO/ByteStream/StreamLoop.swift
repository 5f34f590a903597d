// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc
import Synchronization

/// The thread of one stream. Only this thread reads, writes and closes the descriptor.
final class StreamLoop: Sendable {
    let descriptor: StreamDescriptor
    let peer: String
    let state = Mutex(StreamState())
    /// Makes the thread look at the state again.
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
                .failed, peer: peer, message: "The system could not create a pipe: \(systemErrorText(code)).",
                systemError: code)
        }
        let loop = StreamLoop(descriptor, peer: peer, wakeup: wakeup)
        // The thread keeps the loop alive until it has closed the descriptor.
        let code = startThread { loop.run() }
        guard code == 0 else {
            descriptor.close(hasUnsent: false)
            throw ByteStreamError(
                .failed, peer: peer, message: "The system could not start a thread: \(systemErrorText(code)).",
                systemError: code)
        }
        return loop
    }

    func read() async throws(ByteStreamError) -> [UInt8] {
        let reader = StreamState.Reader()
        enum Step { case finished(Result<[UInt8], ByteStreamError>), wait(instead: StreamState.Reader?) }
        let (step, wasFull) = state.withLock { state -> (Step, Bool) in
            // First, because a reader in a loop would otherwise never end while bytes keep arriving. They stay for the next reader.
            if Task.isCancelled { return (.finished(.failure(cancelled)), false) }
            let wasFull = state.isInputFull
            if !state.input.isEmpty { return (.finished(.success(state.takeInput())), wasFull) }
            if let end = state.inputEnd { return (.finished(.failure(end)), false) }
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
            // Otherwise the reader is about to receive bytes, which must not be lost.
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

/// The work of the stream's thread.
extension StreamLoop {
    func run() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        // A layer may hold bytes although the descriptor does not become readable. So it is read until it has no more.
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

    /// Returns the events to poll for, and the deadline; nil when the stream is to be closed.
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

    /// - Returns: whether there may be more bytes.
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
            // The other side may still read.
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
        // Bytes that the other side had sent before can still be read.
        case .socket, .layered: endOutput(lost(failure))
        case .terminal: end(lost(failure))
        }
    }

    private func expire() {
        for writer in state.withLock({ $0.expireWrites() }) {
            let message = "The other side did not accept all bytes in time."
            writer.resume(returning: ByteStreamError(.timedOut, peer: peer, message: message))
        }
    }

    private func lost(_ code: Int32) -> ByteStreamError {
        ByteStreamError(
            .lost, peer: peer, message: "The connection is lost: \(systemErrorText(code)).", systemError: code)
    }

    private func endInput(_ error: ByteStreamError) {
        state.withLock { $0.endInput(error) }?.resume(returning: .failure(error))
    }

    private func endOutput(_ error: ByteStreamError) {
        for writer in state.withLock({ $0.endOutput(error) }) { writer.resume(returning: error) }
    }

    /// Ends every waiting and every later call with the reason why the stream ended.
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

/// The state that a stream's callers and its thread share.
struct StreamState {
    typealias Reader = Waiter<Result<[UInt8], ByteStreamError>>
    typealias Writer = Waiter<ByteStreamError?>

    struct PendingWrite {
        var bytes: [UInt8]
        var position = 0
        var deadline: MonotonicDeadline?
        let writer: Writer
    }

    private(set) var input: [UInt8] = []
    var reader: Reader?
    var writes: [PendingWrite] = []
    /// Why no more bytes will arrive.
    var inputEnd: ByteStreamError?
    /// Why no more bytes can be sent.
    var outputEnd: ByteStreamError?
    var isClosing = false
    /// The descriptor is closed.
    var isFinished = false
    var closers: [Waiter<Void>] = []

    var isInputFull: Bool { input.count >= ByteStream.inputCapacity }

    mutating func takeInput() -> [UInt8] {
        defer { input = [] }
        return input
    }

    /// - Parameter dropsOldest: whether the oldest bytes are dropped if there are more than the capacity.
    /// - Returns: the reader that now gets its bytes, and the bytes.
    mutating func append(_ bytes: ArraySlice<UInt8>, dropsOldest: Bool) -> (Reader, [UInt8])? {
        input += bytes
        if dropsOldest, input.count > ByteStream.inputCapacity {
            input.removeFirst(input.count - ByteStream.inputCapacity)
        }
        guard let reader else { return nil }
        self.reader = nil
        return (reader, takeInput())
    }

    /// - Returns: the reader that this ends.
    mutating func endInput(_ error: ByteStreamError) -> Reader? {
        inputEnd = inputEnd ?? error
        defer { reader = nil }
        return reader
    }

    /// - Returns: the writers that this ends.
    mutating func endOutput(_ error: ByteStreamError) -> [Writer] {
        outputEnd = outputEnd ?? error
        defer { writes = [] }
        return writes.map(\.writer)
    }

    /// - Returns: the writers whose time is over.
    mutating func expireWrites() -> [Writer] {
        let expired = writes.filter { $0.deadline?.isOver ?? false }.map(\.writer)
        if !expired.isEmpty { writes.removeAll { write in expired.contains { $0 === write.writer } } }
        return expired
    }
}

/// The kinds of descriptor that a stream can use.
enum StreamDescriptor: Sendable {
    case socket(Int32)
    case terminal(Int32, close: @Sendable (_ hasUnsent: Bool) -> Void)
    case layered(any LayeredSocket)

    var number: Int32 {
        switch self {
        case .socket(let number), .terminal(let number, _): number
        case .layered(let socket): socket.descriptor
        }
    }

    /// Whether the other side can be made to wait. If not, the oldest input is dropped when there is too much.
    var holdsBackInput: Bool { if case .terminal = self { false } else { true } }

    /// Whether bytes may be available although the descriptor is not readable, because the layer above has already read them.
    var mayHoldInput: Bool { if case .layered = self { true } else { false } }

    /// Neither blocks nor raises SIGPIPE.
    func write(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBytes { buffer in
            switch self {
            case .socket(let number):
                send(number, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            case .terminal(let number, _): Glibc.write(number, buffer.baseAddress, buffer.count)
            case .layered(let socket): socket.send(buffer)
            }
        }
    }

    func read(into buffer: inout [UInt8]) -> Int {
        switch self {
        case .socket(let number): recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        case .terminal(let number, _): Glibc.read(number, &buffer, buffer.count)
        case .layered(let socket): buffer.withUnsafeMutableBytes { socket.receive(into: $0) }
        }
    }

    func close(hasUnsent: Bool) {
        switch self {
        case .socket(let number): Glibc.close(number)
        case .terminal(_, let close): close(hasUnsent)
        case .layered(let socket): socket.close()
        }
    }
}
