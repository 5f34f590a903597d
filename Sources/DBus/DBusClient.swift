import Glibc
import Synchronization

/// A connection to a bus on a thread of its own, for callers that wait asynchronously.
///
/// Signals and calls to us are handed to closures on that thread, in the order in which they came, and before the reply that came after
/// them: who keeps a picture of somebody's objects sees each change before the answer that builds on it.
public final class DBusClient: Sendable {
    /// What is answered to a call to us.
    public enum Answer: Sendable {
        case reply([DBusValue])
        case error(name: String, message: String)

        /// For calls that nobody here knows.
        public static let unknown = Answer.error(
            name: "org.freedesktop.DBus.Error.UnknownMethod", message: "No such method here.")
    }

    public struct Handlers: Sendable {
        /// Which signals and calls are let in, by their heads, before anything else of them is read; calls are told that they are not.
        public var admits: @Sendable (DBusMessage) -> Bool
        public var signal: @Sendable (DBusMessage) -> Void
        public var call: @Sendable (DBusMessage) -> Answer
        /// The connection is gone, not by ``DBusClient/close()``. Called once.
        public var lost: @Sendable (DBusError) -> Void

        public init(
            admits: @escaping @Sendable (DBusMessage) -> Bool = { _ in true },
            signal: @escaping @Sendable (DBusMessage) -> Void = { _ in },
            call: @escaping @Sendable (DBusMessage) -> Answer = { _ in .unknown },
            lost: @escaping @Sendable (DBusError) -> Void = { _ in }
        ) {
            self.admits = admits
            self.signal = signal
            self.call = call
            self.lost = lost
        }
    }

    private let mailbox: Mailbox

    private init(_ mailbox: Mailbox) { self.mailbox = mailbox }

    /// Connects, on a new thread.
    ///
    /// - Throws: `unavailable`, `accessDenied` or `timeout`, as ``DBusConnection`` does; `cancelled`.
    public static func connect(
        _ address: DBusAddress, within limit: Duration = .seconds(2), handlers: Handlers = Handlers()
    ) async throws(DBusError) -> DBusClient {
        let mailbox = try Mailbox()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                mailbox.expectStart(continuation)
                let isStarted = startThread { BusThread(mailbox, handlers).run(address, within: limit) }
                if !isStarted {
                    mailbox.started(.failure(DBusError(.unavailable, message: "No thread can be started.")))
                }
            }
        } onCancel: {
            mailbox.close()
        }
        try result.get()
        return DBusClient(mailbox)
    }

    deinit { close() }

    /// Calls a method, and waits for its answer.
    ///
    /// - Parameter inOrder: handed the answer on the thread of the bus, before anything that came after it: for who keeps a picture
    ///   of somebody's objects. The caller itself goes on some time later.
    /// - Throws: `remote` with the error's name; `timeout`; `cancelled` at once when the calling task is; `disconnected`; `malformed`.
    @discardableResult
    public func call(
        _ call: DBusCall, within limit: Duration, inOrder: (@Sendable ([DBusValue]) -> Void)? = nil
    ) async throws(DBusError) -> [DBusValue] {
        let id = mailbox.newID()
        let deadline = DBusConnection.monotonic() + DBusConnection.microseconds(limit)
        let mailbox = mailbox
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                mailbox.post(call, id: id, deadline: deadline, inOrder, continuation)
            }
        } onCancel: {
            mailbox.answer(id, .failure(DBusError(.cancelled, message: "Cancelled.")))
        }
        return try result.get()
    }

    /// Sends a call whose answer nobody waits for, in its order among the others.
    public func post(_ call: DBusCall) async {
        var call = call
        call.expectsReply = false
        _ = try? await self.call(call, within: .seconds(2))
    }

    /// Lets signals through that fit the rule, in the language of the bus:
    /// `type='signal',sender='org.bluez',path_namespace='/org/bluez'`.
    public func match(_ rule: String, within limit: Duration = .seconds(2)) async throws(DBusError) {
        try await call(.bus("AddMatch", [.string(rule)]), within: limit)
    }

    /// Ends the connection; calls under way end with `cancelled`. Closing twice is harmless.
    public func close() { mailbox.close() }
}

/// What callers and the bus's thread share.
private final class Mailbox: Sendable {
    typealias Waiter = CheckedContinuation<Result<[DBusValue], DBusError>, Never>

    struct Letter {
        var id: Int
        var call: DBusCall
        var deadline: UInt64
        var inOrder: (@Sendable ([DBusValue]) -> Void)?
    }

    /// A call on its way through here; none is kept once it was answered.
    private enum Stage {
        case new
        /// Before its caller began to wait.
        case cancelled
        case waiting(Waiter)
    }

    private struct State {
        var nextID = 0
        var letters: [Letter] = []
        var calls: [Int: Stage] = [:]
        var start: CheckedContinuation<Result<Void, DBusError>, Never>?
        /// Why nobody will be answered any more.
        var end: DBusError?
    }

    private let state = Mutex(State())
    /// Readable when there is something to look at.
    let bell: Int32
    private let rope: Int32

    init() throws(DBusError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw DBusError(.unavailable, message: "No descriptor for D-Bus.") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (bell, rope) = (ends[0], ends[1])
    }

    deinit {
        _ = Glibc.close(bell)
        _ = Glibc.close(rope)
    }

    private func ring() {
        var one: UInt8 = 1
        // A full pipe rings as well as another byte in it.
        _ = write(rope, &one, 1)
    }

    func expectStart(_ continuation: CheckedContinuation<Result<Void, DBusError>, Never>) {
        state.withLock { $0.start = continuation }
    }

    func started(_ result: Result<Void, DBusError>) {
        let (start, end) = state.withLock { state in
            defer { state.start = nil }
            return (state.start, state.end)
        }
        start?.resume(returning: end.map { .failure($0) } ?? result)
    }

    func newID() -> Int {
        state.withLock { state in
            state.nextID += 1
            state.calls[state.nextID] = .new
            return state.nextID
        }
    }

    func post(
        _ call: DBusCall, id: Int, deadline: UInt64, _ inOrder: (@Sendable ([DBusValue]) -> Void)?, _ waiter: Waiter
    ) {
        let refused: DBusError? = state.withLock { state in
            if case .cancelled? = state.calls.removeValue(forKey: id) {
                return DBusError(.cancelled, message: "Cancelled.")
            }
            if let end = state.end { return end }
            state.calls[id] = .waiting(waiter)
            state.letters.append(Letter(id: id, call: call, deadline: deadline, inOrder: inOrder))
            return nil
        }
        if let refused { waiter.resume(returning: .failure(refused)) } else { ring() }
    }

    /// Whoever answers first is heard.
    func answer(_ id: Int, _ result: Result<[DBusValue], DBusError>) {
        let waiter: Waiter? = state.withLock { state in
            switch state.calls.removeValue(forKey: id) {
            case .waiting(let waiter): return waiter
            case .new, .cancelled:
                state.calls[id] = .cancelled
                return nil
            case nil: return nil
            }
        }
        waiter?.resume(returning: result)
    }

    /// What is to be sent, or nil when it is over.
    func take() -> [Letter]? {
        var drained = [UInt8](repeating: 0, count: 256)
        while read(bell, &drained, drained.count) == drained.count {}
        return state.withLock { state in
            guard state.end == nil else { return nil }
            defer { state.letters = [] }
            return state.letters.filter { state.calls[$0.id] != nil }
        }
    }

    func close() { end(DBusError(.cancelled, message: "The connection to D-Bus was closed.")) }

    func end(_ error: DBusError) {
        let (waiters, start) = state.withLock { state in
            if state.end == nil { state.end = error }
            let waiters = state.calls.values.compactMap { if case .waiting(let waiter) = $0 { waiter } else { nil } }
            state.calls = state.calls.filter { if case .waiting = $0.value { false } else { true } }
            state.letters = []
            defer { state.start = nil }
            return (waiters, state.start)
        }
        start?.resume(returning: .failure(error))
        for waiter in waiters { waiter.resume(returning: .failure(error)) }
        ring()
    }
}

/// The thread that owns the connection.
private final class BusThread {
    private let mailbox: Mailbox
    private let handlers: DBusClient.Handlers
    /// Calls that were sent, by serial.
    private var sent: [UInt64: Mailbox.Letter] = [:]

    init(_ mailbox: Mailbox, _ handlers: DBusClient.Handlers) {
        self.mailbox = mailbox
        self.handlers = handlers
    }

    func run(_ address: DBusAddress, within limit: Duration) {
        let connection: DBusConnection
        do throws(DBusError) {
            connection = try DBusConnection(address, within: limit)
        } catch {
            mailbox.started(.failure(error))
            return
        }
        mailbox.started(.success(()))
        do throws(DBusError) {
            while let letters = mailbox.take() {
                for letter in letters { send(letter, connection) }
                try connection.drain(admitting: handlers.admits) { message throws(DBusError) in
                    try handle(message, connection)
                }
                expire()
                wait(connection)
            }
        } catch {
            mailbox.end(error)
            handlers.lost(error)
        }
        connection.close()
    }

    private func send(_ letter: Mailbox.Letter, _ connection: DBusConnection) {
        do throws(DBusError) {
            let serial = try connection.send(.call(letter.call))
            if letter.call.expectsReply {
                sent[serial] = letter
            } else {
                mailbox.answer(letter.id, .success([]))
            }
        } catch {
            mailbox.answer(letter.id, .failure(error))
        }
    }

    private func handle(_ message: DBusMessage, _ connection: DBusConnection) throws(DBusError) {
        switch message.kind {
        case .signal: handlers.signal(message)
        case .call:
            let answer = handlers.call(message)
            guard message.expectsReply else { return }
            switch answer {
            case .reply(let values): try connection.send(.reply(to: message, values))
            case .error(let name, let text): try connection.send(.error(to: message, name: name, message: text))
            }
        case .reply, .error:
            guard let serial = message.replySerial, let letter = sent.removeValue(forKey: serial) else { return }
            if message.kind == .reply { letter.inOrder?(message.arguments) }
            mailbox.answer(
                letter.id, message.kind == .reply ? .success(message.arguments) : .failure(DBusError(reply: message)))
        }
    }

    private func expire() {
        guard !sent.isEmpty else { return }
        let now = DBusConnection.monotonic()
        for (serial, call) in sent where call.deadline <= now {
            sent[serial] = nil
            mailbox.answer(call.id, .failure(DBusError(.timeout, message: "No answer over D-Bus in time.")))
        }
    }

    private func wait(_ connection: DBusConnection) {
        let due = min(connection.due ?? .max, sent.values.map(\.deadline).min() ?? .max)
        let now = DBusConnection.monotonic()
        let milliseconds: Int32 =
            due == .max ? -1 : due <= now ? 0 : Int32(clamping: (due - now + 999) / 1000)
        var waiting = [
            pollfd(fd: connection.descriptor, events: connection.events, revents: 0),
            pollfd(fd: mailbox.bell, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&waiting, 2, milliseconds)
    }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let code = pthread_create(
        &thread, nil,
        { context in
            guard let context else { return nil }
            Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
            return nil
        }, work.toOpaque())
    guard code == 0 else {
        work.release()
        return false
    }
    pthread_detach(thread)
    return true
}
