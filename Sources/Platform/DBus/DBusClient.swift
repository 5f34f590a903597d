// SPDX-License-Identifier: Apache-2.0
import RainIO

/// A connection to a bus on a thread of its own, for callers that wait asynchronously.
///
/// Signals and incoming calls are passed to closures on that thread, in the order of their arrival and before any reply that arrived later.
/// A client that keeps a copy of a service's objects therefore sees each change before the answer that builds on it.
public final class DBusClient: Sendable {
    /// The answer to an incoming call.
    public enum Answer: Sendable {
        /// The call succeeded, with the values that the method returns.
        case reply([DBusValue])
        /// The call failed: a D-Bus error name, such as `org.bluez.Error.Rejected`, and a text for people.
        case error(name: String, message: String)

        /// For a method that this program does not have.
        public static let unknown = Answer.error(
            name: DBusErrorName.unknownMethod, message: "No such method here.")
    }

    /// What is called with what arrives. All of it runs on the connection's thread, so a slow closure delays everything that follows.
    public struct Handlers: Sendable {
        /// Decides by the head of a signal or a call whether the rest of it is read. A refused call is answered with `AccessDenied`.
        public var admits: @Sendable (DBusMessage) -> Bool
        /// Takes a signal that `admits` has accepted.
        public var signal: @Sendable (DBusMessage) -> Void
        /// Answers a call to this connection. The answer is dropped where the caller expects none.
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
    /// - Throws: `unavailable`, `accessDenied` or `timeout`, as ``DBusConnection`` does; `cancelled`.
    public static func connect(
        _ address: DBusAddress, within limit: Duration = .seconds(2), handlers: Handlers = Handlers()
    ) async throws(DBusError) -> DBusClient {
        let queue = try CallQueue()
        guard startThread({ BusThread(queue, handlers).run(address, within: limit) }) == 0 else {
            throw DBusError(.unavailable, message: "No thread can be started.")
        }
        try await queue.start.value { queue.close() }.get()
        return DBusClient(queue)
    }

    deinit { close() }

    /// Calls a method, and waits for its answer.
    ///
    /// - Parameter inOrder: called with the answer on the connection's thread, before anything that arrived after it, for clients that
    ///   keep a copy of a service's objects. The caller itself resumes some time later.
    /// - Throws: `remote` with the error's name; `timeout`; `cancelled` at once when the calling task is; `disconnected`; `malformed`.
    @discardableResult
    public func call(
        _ call: DBusCall, within limit: Duration, inOrder: (@Sendable ([DBusValue]) -> Void)? = nil
    ) async throws(DBusError) -> [DBusValue] {
        let cancelled = DBusError(.cancelled, message: "Cancelled.")
        guard !Task.isCancelled else { throw cancelled }
        let deadline = monotonicMicroseconds() + DBusConnection.microseconds(limit)
        let queue = queue
        let waiter = CallQueue.CallWaiter()
        let id = try queue.post(call, deadline: deadline, inOrder, waiter)
        return try await waiter.value { queue.answer(id, .failure(cancelled)) }.get()
    }

    /// Sends a call without waiting for an answer, in its order among the other calls.
    public func post(_ call: DBusCall) async {
        var call = call
        call.expectsReply = false
        _ = try? await self.call(call, within: .seconds(2))
    }

    /// Asks the bus for the signals that fit a match rule of D-Bus, such as `type='signal',sender='org.bluez',path_namespace='/org/bluez'`.
    public func match(_ rule: String, within limit: Duration = .seconds(2)) async throws(DBusError) {
        try await call(.bus("AddMatch", [.string(rule)]), within: limit)
    }

    /// Ends the connection; calls under way end with `cancelled`. Closing twice is harmless.
    public func close() { queue.close() }
}
