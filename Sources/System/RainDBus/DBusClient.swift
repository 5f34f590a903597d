// SPDX-License-Identifier: Apache-2.0
import RainWaiting

/// A connection to a bus on a thread of its own, for callers that wait asynchronously.
///
/// Signals and calls to us are handed to closures on that thread, in the order in which they came, and before the reply that came after
/// them: who keeps a picture of somebody's objects sees each change before the answer that builds on it.
public final class DBusClient: Sendable {
    /// What is answered to a call to us.
    public enum Answer: Sendable {
        /// The call succeeded, with the values that the method returns.
        case reply([DBusValue])
        /// The call failed: a D-Bus error name, such as `org.bluez.Error.Rejected`, and a text for people.
        case error(name: String, message: String)

        /// For calls that nobody here knows.
        public static let unknown = Answer.error(
            name: DBusErrorName.unknownMethod, message: "No such method here.")
    }

    /// What is called with what arrives. All of it runs on the connection's thread, so a slow closure delays everything that follows.
    public struct Handlers: Sendable {
        /// Which signals and calls are let in, by their heads, before anything else of them is read; calls are told that they are not.
        public var admits: @Sendable (DBusMessage) -> Bool
        /// Takes a signal that `admits` has let in.
        public var signal: @Sendable (DBusMessage) -> Void
        /// Answers a call to this connection. The answer is dropped where the caller expects none.
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
    /// - Parameter inOrder: handed the answer on the thread of the bus, before anything that came after it: for who keeps a picture
    ///   of somebody's objects. The caller itself goes on some time later.
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
    public func close() { queue.close() }
}
