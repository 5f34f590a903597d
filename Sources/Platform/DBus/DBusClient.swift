// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

/// A connection to a bus on its own thread, for callers that wait asynchronously.
///
/// Signals and incoming calls are passed to closures on that thread, in the order of their arrival and before any later reply. So a client
/// that keeps a copy of a service's objects sees each change before an answer that depends on it.
public final class DBusClient: Sendable {
    /// The answer to an incoming call.
    public enum Answer: Sendable {
        /// The call succeeded, with the values that the method returns.
        case reply([DBusValue])
        /// The call failed: a D-Bus error name, such as `org.bluez.Error.Rejected`, and a text for people.
        case error(name: String, message: String)

        /// The answer for a method that this program does not have.
        public static let unknown = Answer.error(
            name: DBusErrorName.unknownMethod, message: "No such method here.")
    }

    /// The closures for incoming messages. They run on the connection's thread, so a slow closure delays all later messages.
    public struct Handlers: Sendable {
        /// Decides by the head of a signal or a call whether the rest of it is read. A refused call is answered with `AccessDenied`.
        public var admits: @Sendable (DBusMessage) -> Bool
        /// Takes a signal that `admits` has accepted.
        public var signal: @Sendable (DBusMessage) -> Void
        /// Answers a call to this connection. The answer is dropped if the caller expects none.
        public var call: @Sendable (DBusMessage) -> Answer
        /// Called once when the connection is lost; not after ``DBusClient/close()``.
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

    private let queue: CallQueue

    private init(_ queue: CallQueue) { self.queue = queue }

    /// Connects, on a new thread.
    ///
    /// - Throws: `unavailable`, `accessDenied` or `timeout`, like ``DBusConnection``; `cancelled`.
    public static func connect(
        _ address: DBusAddress, within limit: Duration = .seconds(2), handlers: Handlers = Handlers()
    ) async throws(DBusError) -> DBusClient {
        let queue = try CallQueue()
        guard startThread({ BusThread(queue, handlers).run(address, within: limit) }) == 0 else {
            throw DBusError(.unavailable, message: "The system could not start a thread.")
        }
        try await queue.start.value { queue.close() }.get()
        return DBusClient(queue)
    }

    deinit { close() }

    /// Calls a method, and waits for its answer.
    ///
    /// - Parameter inOrder: called with the answer on the connection's thread, before all later messages, for clients that keep a copy of a
    ///   service's objects. The caller itself resumes some time later.
    /// - Throws: `remote` with the error's name; `timeout`; `cancelled` at once if the calling task is cancelled; `disconnected`;
    ///   `malformed`.
    @discardableResult
    public func call(
        _ call: DBusCall, within limit: Duration, inOrder: (@Sendable ([DBusValue]) -> Void)? = nil
    ) async throws(DBusError) -> [DBusValue] {
        try await begin(call, within: limit, inOrder: inOrder).answer()
    }

    /// Sends a call whose answer is waited for later, and which anything may end before that.
    ///
    /// - Throws: `cancelled` if the calling task is cancelled; `disconnected`.
    package func begin(
        _ call: DBusCall, within limit: Duration, inOrder: (@Sendable ([DBusValue]) -> Void)? = nil
    ) throws(DBusError) -> OpenCall {
        guard !Task.isCancelled else { throw OpenCall.cancelled }
        let deadline = monotonicMicroseconds() + DBusConnection.microseconds(limit)
        let waiter = CallQueue.CallWaiter()
        return OpenCall(queue: queue, id: try queue.post(call, deadline: deadline, inOrder, waiter), waiter: waiter)
    }

    /// A call that was sent.
    package struct OpenCall: Sendable {
        fileprivate static let cancelled = DBusError(.cancelled, message: "Cancelled.")

        fileprivate let queue: CallQueue
        fileprivate let id: Int
        fileprivate let waiter: CallQueue.CallWaiter

        /// Waits for the answer. Call it once. Its errors are those of ``DBusClient/call(_:within:inOrder:)``.
        package func answer() async throws(DBusError) -> [DBusValue] {
            try await waiter.value { end(with: Self.cancelled) }.get()
        }

        /// Ends the call with an error, unless it is answered. An answer that comes later is dropped.
        package func end(with error: DBusError) { queue.answer(id, .failure(error)) }
    }

    /// Sends a call without waiting for an answer, in its order among the other calls.
    public func post(_ call: DBusCall) async {
        var call = call
        call.expectsReply = false
        _ = try? await self.call(call, within: .seconds(2))
    }

    /// Subscribes to the signals that fit a match rule of D-Bus, such as `type='signal',sender='org.bluez',path_namespace='/org/bluez'`.
    public func match(_ rule: String, within limit: Duration = .seconds(2)) async throws(DBusError) {
        try await call(.bus("AddMatch", [.string(rule)]), within: limit)
    }

    /// Ends the connection. Pending calls throw `cancelled`. Closing twice is harmless.
    public func close() { queue.close() }
}

/// The thread that owns the connection.
final class BusThread {
    private let queue: CallQueue
    private let handlers: DBusClient.Handlers
    /// The sent calls, by serial number. At most ``DBusLimits/pending`` of them.
    private var sent: [UInt64: CallQueue.PendingCall] = [:]
    /// The calls that wait until one of those is answered, in their order.
    private var waiting: [CallQueue.PendingCall] = []
    /// The bus has refused a call, because too many others have no answer yet. The next answer makes room.
    private var isFull = false

    init(_ queue: CallQueue, _ handlers: DBusClient.Handlers) {
        self.queue = queue
        self.handlers = handlers
    }

    func run(_ address: DBusAddress, within limit: Duration) {
        let connection: DBusConnection
        do throws(DBusError) {
            connection = try DBusConnection(address, within: limit)
        } catch {
            queue.start.resume(returning: .failure(error))
            return
        }
        queue.start.resume(returning: .success(()))
        do throws(DBusError) {
            while let unsent = queue.take() {
                waiting.append(contentsOf: unsent)
                sendWaiting(connection)
                try connection.drain(admitting: handlers.admits) { message throws(DBusError) in
                    try handle(message, connection)
                }
                sendWaiting(connection)
                expire()
                wait(connection)
            }
        } catch {
            queue.end(error)
            handlers.lost(error)
        }
        connection.close()
    }

    private func sendWaiting(_ connection: DBusConnection) {
        while !isFull, sent.count < DBusLimits.pending, !waiting.isEmpty {
            let next = waiting.removeFirst()
            if queue.isWaiting(next.id) { send(next, connection) }
        }
    }

    private func send(_ pending: CallQueue.PendingCall, _ connection: DBusConnection) {
        do throws(DBusError) {
            let serial = try connection.send(.call(pending.call))
            if pending.call.expectsReply {
                sent[serial] = pending
            } else {
                queue.answer(pending.id, .success([]))
            }
        } catch {
            queue.answer(pending.id, .failure(error))
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
            isFull = false
            guard let serial = message.replySerial, let pending = sent.removeValue(forKey: serial) else { return }
            if message.isRefusalOfBus, !sent.isEmpty {
                waiting.insert(pending, at: 0)
                isFull = true
                return
            }
            if message.kind == .reply { pending.inOrder?(message.arguments) }
            queue.answer(
                pending.id, message.kind == .reply ? .success(message.arguments) : .failure(DBusError(reply: message)))
        }
    }

    private func expire() {
        guard !sent.isEmpty || !waiting.isEmpty else { return }
        let now = monotonicMicroseconds()
        let timeout = DBusError(.timeout, message: "No answer arrived over D-Bus in time.")
        for (serial, call) in sent where call.deadline <= now {
            sent[serial] = nil
            queue.answer(call.id, .failure(timeout))
        }
        waiting.removeAll { call in
            guard call.deadline <= now else { return false }
            queue.answer(call.id, .failure(timeout))
            return true
        }
        // Nothing is left whose answer makes room.
        if sent.isEmpty { isFull = false }
    }

    private func wait(_ connection: DBusConnection) {
        let canSend = !isFull && sent.count < DBusLimits.pending && !waiting.isEmpty
        let deadlines = [sent.values.map(\.deadline).min(), waiting.map(\.deadline).min(), connection.due]
        let due = canSend ? 0 : deadlines.compactMap(\.self).min()
        var ready: [PollEntry] = [
            PollEntry(connection.descriptor, for: PollEvents(rawValue: connection.events)),
            .readable(queue.wakeup.reader),
        ]
        _ = pollDescriptors(&ready, until: due.map { MonotonicDeadline(microseconds: $0) })
    }
}

extension DBusMessage {
    /// Whether the bus itself has refused a call because the caller has too many calls without an answer. Nobody has got the call.
    fileprivate var isRefusalOfBus: Bool {
        kind == .error && sender == DBusNameOwner.bus && errorName == DBusErrorName.limitsExceeded
    }
}

/// The state that the callers and the bus's thread share.
final class CallQueue: Sendable {
    typealias CallWaiter = Waiter<Result<[DBusValue], DBusError>>

    struct PendingCall {
        var id: Int
        var call: DBusCall
        var deadline: UInt64
        var inOrder: (@Sendable ([DBusValue]) -> Void)?
    }

    private struct State {
        var nextID = 0
        var unsent: [PendingCall] = []
        /// The waiting callers, by the number of their call. Each is removed when its call is answered.
        var calls: [Int: CallWaiter] = [:]
        /// Why no further call will be answered; nil while the connection works.
        var end: DBusError?
    }

    /// Completes when the connection is made or has failed.
    let start = Waiter<Result<Void, DBusError>>()
    private let state = Mutex(State())
    /// Wakes the bus's thread when there is work.
    let wakeup: WakePipe

    init() throws(DBusError) {
        guard let wakeup = WakePipe() else {
            throw DBusError(.unavailable, message: "No file descriptor is available for D-Bus.")
        }
        self.wakeup = wakeup
    }

    /// - Returns: the number of the call.
    /// - Throws: the reason why no further call will be answered.
    func post(
        _ call: DBusCall, deadline: UInt64, _ inOrder: (@Sendable ([DBusValue]) -> Void)?, _ waiter: CallWaiter
    ) throws(DBusError) -> Int {
        let posted: Result<Int, DBusError> = state.withLock { state in
            if let end = state.end { return .failure(end) }
            state.nextID += 1
            state.calls[state.nextID] = waiter
            state.unsent.append(PendingCall(id: state.nextID, call: call, deadline: deadline, inOrder: inOrder))
            return .success(state.nextID)
        }
        let id = try posted.get()
        wakeup.ring()
        return id
    }

    /// Only the first answer to a call has an effect.
    func answer(_ id: Int, _ result: Result<[DBusValue], DBusError>) {
        state.withLock { $0.calls.removeValue(forKey: id) }?.resume(returning: result)
    }

    /// Returns the calls to send; nil once the queue is closed.
    func take() -> [PendingCall]? {
        wakeup.drain()
        return state.withLock { state in
            guard state.end == nil else { return nil }
            defer { state.unsent = [] }
            return state.unsent
        }
    }

    /// Whether a caller still waits for the answer to a call.
    func isWaiting(_ id: Int) -> Bool { state.withLock { $0.calls[id] != nil } }

    func close() { end(DBusError(.cancelled, message: "The connection to D-Bus was closed.")) }

    func end(_ error: DBusError) {
        let waiters = state.withLock { state in
            if state.end == nil { state.end = error }
            state.unsent = []
            defer { state.calls = [:] }
            return state.calls.values
        }
        start.resume(returning: .failure(error))
        for waiter in waiters { waiter.resume(returning: .failure(error)) }
        wakeup.ring()
    }
}

/// Tracks which connection owns a well-known name on a bus, and so which messages come from that service.
///
/// Match rules only filter broadcasts. A message to this connection alone arrives whatever the rules are, and the system's bus lets every
/// user send signals. The sender's name can be trusted: the bus writes it (D-Bus specification, "Message Bus Message Routing"), and no two
/// connections have the same unique name.
public struct DBusNameOwner: Sendable {
    /// The name of the bus itself.
    public static let bus = "org.freedesktop.DBus"

    /// The well-known name whose owner is tracked, such as `org.bluez`.
    public let name: String
    /// The owner's unique name, such as `:1.7`; nil if there is no owner, and before it is known.
    public private(set) var current: String?
    private var isTold = false

    public init(of name: String) { self.name = name }

    /// The match rule for changes of the owner.
    public var rule: String {
        "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged',arg0='\(name)'"
    }

    /// The call that asks the bus for the owner. Pass its answer to ``learn(_:)``. Send it after adding ``rule``, or a change may be
    /// missed.
    public var question: DBusCall { .bus("GetNameOwner", [.string(name)]) }

    /// Takes the answer to ``question``, unless a signal has already brought a newer owner.
    public mutating func learn(_ answer: [DBusValue]) {
        if !isTold { current = answer.first?.text }
    }

    /// Whether the message comes from the service or from the bus.
    public func admits(_ message: DBusMessage) -> Bool {
        guard let sender = message.sender else { return false }
        return sender == current || sender == Self.bus
    }

    /// Whether the service itself sent the message.
    public func sent(_ message: DBusMessage) -> Bool { message.sender != nil && message.sender == current }

    /// Takes a signal. If it reports a change of the owner, returns whether the service is there now; otherwise returns nil.
    public mutating func follow(_ signal: DBusMessage) -> Bool? {
        guard signal.sender == Self.bus, signal.member == "NameOwnerChanged", signal.arguments.count == 3,
            signal.arguments[0].text == name, let owner = signal.arguments[2].text
        else { return nil }
        isTold = true
        current = owner.isEmpty ? nil : owner
        return current != nil
    }
}
