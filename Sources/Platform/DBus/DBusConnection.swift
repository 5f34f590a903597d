// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc
import RainIO

/// One connection to a bus, used from one thread.
///
/// A loop polls ``descriptor`` for ``events``, until ``due`` at the latest. Then it calls ``drain(admitting:_:)`` in either case. That
/// returns replies to calls of ``send(_:)`` like all other messages, with the call's number in ``DBusMessage/replySerial``. The caller
/// itself waits for replies and enforces deadlines. sd-bus answers `org.freedesktop.DBus.Peer`.
///
/// It never waits longer than the given limit, and every error is a ``DBusError``.
public final class DBusConnection {
    /// This connection's unique name on the bus, such as `:1.42`.
    public let uniqueName: String

    let library: SystemdLibrary
    let bus: SystemdLibrary.Object
    /// Holds a reference to each call, because sd-bus makes the answer from the call itself.
    var unanswered = UnansweredCalls<SystemdLibrary.Object>()
    private(set) var isClosed = false

    /// Connects and registers with the bus.
    ///
    /// - Throws: `unavailable` if nothing listens, `accessDenied`, or `timeout`.
    public init(_ address: DBusAddress, within limit: Duration = .seconds(2)) throws(DBusError) {
        let library = try SystemdLibrary.load()
        var made: SystemdLibrary.Object?
        guard library.newBus(&made) >= 0, let bus = made else {
            throw DBusError(.unavailable, message: "No memory for a connection to D-Bus.")
        }
        do throws(DBusError) {
            try Self.connect(library, bus, address, within: limit)
            var name: SystemdLibrary.Text?
            guard library.uniqueName(bus, &name) >= 0, let name else {
                throw DBusError(.unavailable, message: "D-Bus at \(address) did not give this connection a name.")
            }
            uniqueName = String(cString: name)
        } catch {
            library.close(bus)
            _ = library.unref(bus)
            throw error
        }
        self.library = library
        self.bus = bus
    }

    private static func connect(
        _ library: SystemdLibrary, _ bus: SystemdLibrary.Object, _ address: DBusAddress, within limit: Duration
    ) throws(DBusError) {
        guard address.isWellFormed else {
            throw DBusError(
                .unavailable,
                message:
                    "\"\(address)\" is not a D-Bus address: it must begin with a type, as in unix:path=/run/dbus/system_bus_socket."
            )
        }
        try check(address.description.withCString { library.setAddress(bus, $0) }, address)
        try check(library.setBusClient(bus, 1), address)
        try check(library.start(bus), address)
        let end = monotonicMicroseconds() + microseconds(limit)
        while true {
            var message: SystemdLibrary.Object?
            let result = library.process(bus, &message)
            if let message { _ = library.unrefMessage(message) }
            try check(result, address)
            if library.isReady(bus) > 0 { return }
            if result > 0 { continue }
            guard monotonicMicroseconds() < end else {
                throw DBusError(.timeout, message: "D-Bus at \(address) does not answer.")
            }
            wait(library, bus, until: end)
        }
    }

    private static func check(_ result: Int32, _ address: DBusAddress) throws(DBusError) {
        guard result < 0 else { return }
        switch -result {
        case EACCES, EPERM:
            throw DBusError(
                .accessDenied, message: "D-Bus at \(address) refuses this user: \(systemErrorText(-result)).")
        default:
            var error = DBusError(
                .unavailable, message: "D-Bus at \(address) cannot be reached: \(systemErrorText(-result)).")
            error.address = "\(address)"
            throw error
        }
    }

    deinit {
        close()
        _ = library.unref(bus)
    }

    /// Ends the connection. Unsent messages are dropped.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        for message in unanswered.takeAll() { _ = library.unrefMessage(message) }
        library.close(bus)
    }

    // MARK: the loop

    /// The file descriptor to poll for ``events``; -1 once the connection is closed. It belongs to the connection, so do not close it.
    public var descriptor: Int32 { isClosed ? -1 : library.descriptor(bus) }

    /// The events to wait for, in the bits of `poll(2)`.
    public var events: Int16 {
        guard !isClosed else { return 0 }
        let events = library.events(bus)
        return events < 0 ? Int16(POLLIN) : Int16(truncatingIfNeeded: events)
    }

    /// The latest time for ``drain(admitting:_:)``, in microseconds of `CLOCK_MONOTONIC`; nil for never. It is at once while there are
    /// messages that were already read from the socket, because those do not make ``descriptor`` readable.
    public var due: UInt64? {
        guard !isClosed else { return nil }
        var time = UInt64.max
        guard library.timeout(bus, &time) >= 0, time != .max else { return nil }
        return time
    }

    /// Returns the next message; nil if there is none now. An invalid message is skipped, and answered with an error if it was a call.
    /// After ``DBusLimits/turn`` skipped messages the result is nil as well and the rest is ``due`` at once. So a flood of such messages
    /// does not occupy the thread.
    ///
    /// - Parameter admits: decides by the head of a signal or a call whether the rest of it is read. So a refused message costs almost
    ///   nothing, however long it is. A refused call is answered with an error.
    /// - Throws: `disconnected` once the bus is gone.
    public func process(
        admitting admits: (DBusMessage) -> Bool = { _ in true }
    ) throws(DBusError) -> DBusMessage? {
        guard !isClosed else { throw Self.disconnected }
        for _ in 0..<DBusLimits.turn {
            var made: SystemdLibrary.Object?
            let result = library.process(bus, &made)
            if result < 0 {
                // sd-bus itself could not parse a message.
                if result == -EBADMSG { continue }
                throw Self.disconnected
            }
            guard let raw = made else {
                if result == 0 { return nil }
                continue
            }
            defer { _ = library.unrefMessage(raw) }
            if let message = try accept(raw, admits) { return message }
        }
        return nil
    }

    /// Passes the received messages to `body`, in their order. Returns after ``DBusLimits/turn`` of them, and the rest is ``due`` at once.
    /// Returns early if `body` closes the connection.
    ///
    /// - Throws: the errors of ``process(admitting:)`` and `body`.
    public func drain(
        admitting admits: (DBusMessage) -> Bool = { _ in true }, _ body: (DBusMessage) throws(DBusError) -> Void
    ) throws(DBusError) {
        for _ in 0..<DBusLimits.turn {
            guard let message = try process(admitting: admits) else { return }
            try body(message)
            if isClosed { return }
        }
    }

    static var disconnected: DBusError {
        DBusError(.disconnected, message: "The connection to D-Bus is gone.")
    }

    private func accept(
        _ raw: SystemdLibrary.Object, _ admits: (DBusMessage) -> Bool
    ) throws(DBusError) -> DBusMessage? {
        var head = head(of: raw)
        // sd-bus makes this message itself. The bus forwards no message of that interface.
        if head?.interface == "org.freedesktop.DBus.Local", head?.member == "Disconnected" { throw Self.disconnected }
        if let head, head.kind == .signal || head.kind == .call, !admits(head) {
            if head.kind == .call {
                refuse(raw, DBusErrorName.accessDenied, "Access denied.")
            }
            return nil
        }
        do throws(DBusError) {
            var reader = MessageReader(library, raw)
            head?.arguments = try reader.values()
        } catch {
            guard head?.kind == .reply || head?.kind == .error else {
                if head?.kind == .call {
                    refuse(raw, DBusErrorName.invalidArguments, error.message)
                }
                return nil
            }
            // The caller that waits for this reply gets an error.
            head?.kind = .error
            head?.errorName = DBusErrorName.invalidArguments
            head?.arguments = [.string(error.message)]
        }
        guard let message = head else { return nil }
        if message.kind == .call, message.expectsReply {
            _ = library.ref(raw)
            if let dropped = unanswered.keep(raw, of: message) { _ = library.unrefMessage(dropped) }
        }
        return message
    }

    private func head(of raw: SystemdLibrary.Object) -> DBusMessage? {
        var type: UInt8 = 0
        guard library.kind(raw, &type) >= 0, let kind = DBusMessage.Kind(rawValue: type) else { return nil }
        var serial: UInt64 = 0
        _ = library.cookie(raw, &serial)
        var replySerial: UInt64 = 0
        let isReply = library.replyCookie(raw, &replySerial) >= 0
        func text(_ read: (SystemdLibrary.Object) -> SystemdLibrary.Text?) -> String? {
            read(raw).map { String(cString: $0) }
        }
        var errorName: String?
        if kind == .error {
            let text = library.error(raw)?.assumingMemoryBound(to: SystemdLibrary.ErrorText.self).pointee
            errorName = text?.name.map { String(cString: $0) }
        }
        return DBusMessage(
            kind: kind, serial: serial, replySerial: isReply ? replySerial : nil, sender: text(library.sender),
            destination: text(library.destination), path: text(library.path), interface: text(library.interface),
            member: text(library.member), errorName: errorName,
            expectsReply: kind == .call && library.expectsReply(raw) > 0, arguments: [])
    }

    // MARK: waiting

    /// Calls a method and waits for the answer, for the few calls at the start of a service. Other messages that arrive meanwhile are
    /// passed to `other`.
    ///
    /// - Throws: `remote` with the error's name, `timeout`, and the errors of ``send(_:)``.
    public func callAndWait(
        _ call: DBusCall, within limit: Duration = .seconds(2), other: (DBusMessage) -> Void = { _ in }
    ) throws(DBusError) -> [DBusValue] {
        let serial = try send(.call(call))
        let end = monotonicMicroseconds() + Self.microseconds(limit)
        while true {
            while monotonicMicroseconds() < end, let message = try process() {
                guard message.replySerial == serial else {
                    other(message)
                    continue
                }
                if message.kind == .error { throw DBusError(reply: message) }
                return message.arguments
            }
            guard monotonicMicroseconds() < end else {
                throw DBusError(.timeout, message: "\(call.destination) did not answer \(call.member).")
            }
            Self.wait(library, bus, until: end)
        }
    }

    private static func wait(_ library: SystemdLibrary, _ bus: SystemdLibrary.Object, until end: UInt64) {
        var time = UInt64.max
        _ = library.timeout(bus, &time)
        let events = PollEvents(rawValue: Int16(truncatingIfNeeded: max(library.events(bus), 0)))
        _ = pollDescriptor(
            library.descriptor(bus), for: events, until: MonotonicDeadline(microseconds: min(time, end)))
    }

    static func microseconds(_ duration: Duration) -> UInt64 {
        // A negative duration is due at once.
        let (seconds, attoseconds) = max(duration, .zero).components
        return UInt64(seconds) * 1_000_000 + UInt64(attoseconds / 1_000_000_000_000)
    }
}

extension DBusError {
    /// Makes an error of an error reply.
    public init(reply: DBusMessage) {
        self.init(.remote, name: reply.errorName, message: reply.arguments.first?.text ?? "no reason given")
    }
}

/// Sending: calls, signals, and the answers to calls.
extension DBusConnection {
    /// Queues a message and sends as much as possible at once. A reply is dropped if the call expects none or was already answered.
    ///
    /// - Returns: the message's number, which its reply carries in ``DBusMessage/replySerial``.
    /// - Throws: `malformed` for values that cannot be sent, `disconnected`.
    @discardableResult
    public func send(_ message: DBusOutgoing) throws(DBusError) -> UInt64 {
        guard !isClosed else { throw Self.disconnected }
        guard let raw = try make(message) else { return 0 }
        defer { _ = library.unrefMessage(raw) }
        var serial: UInt64 = 0
        let result = library.send(bus, raw, &serial)
        if result < 0 {
            throw result == -EINVAL
                ? DBusError(.malformed, message: "a message cannot be sent: \(systemErrorText(-result))")
                : Self.disconnected
        }
        return serial
    }

    private func make(_ message: DBusOutgoing) throws(DBusError) -> SystemdLibrary.Object? {
        var made: SystemdLibrary.Object?
        let result: Int32
        let arguments: [DBusValue]
        switch message {
        case .call(let call):
            arguments = call.arguments
            result = library.newCall(bus, &made, call.destination, call.path, call.interface, call.member)
            if result >= 0, let made, !call.expectsReply { _ = library.setExpectsReply(made, 0) }
        case .signal(let path, let interface, let member, let values, let destination):
            arguments = values
            result = library.newSignal(bus, &made, path, interface, member)
            if result >= 0, let made, let destination { _ = library.setDestination(made, destination) }
        case .reply(let call, let values):
            guard let raw = unanswered.take(call) else { return nil }
            defer { _ = library.unrefMessage(raw) }
            arguments = values
            result = library.newReturn(raw, &made)
        case .error(let call, let name, let text):
            guard let raw = unanswered.take(call) else { return nil }
            defer { _ = library.unrefMessage(raw) }
            return try newError(raw, name, text)
        }
        guard result >= 0, let made else {
            throw DBusError(.malformed, message: "a D-Bus message cannot be created: \(systemErrorText(-result))")
        }
        do throws(DBusError) {
            try MessageWriter(library: library, message: made).append(arguments)
        } catch {
            _ = library.unrefMessage(made)
            throw error
        }
        return made
    }

    private func newError(
        _ call: SystemdLibrary.Object, _ name: String, _ text: String
    ) throws(DBusError) -> SystemdLibrary.Object {
        var made: SystemdLibrary.Object?
        let result = name.withCString { name in
            text.withCString { text in
                var error = SystemdLibrary.ErrorText(name: name, message: text)
                return library.newError(call, &made, &error)
            }
        }
        guard result >= 0, let made else {
            throw DBusError(.malformed, message: "a D-Bus error \(name) cannot be created: \(systemErrorText(-result))")
        }
        return made
    }

    /// Answers a call with an error if its sender expects a reply. No handler sees the call.
    func refuse(_ raw: SystemdLibrary.Object, _ name: String, _ text: String) {
        guard library.expectsReply(raw) > 0, let made = try? newError(raw, name, text) else { return }
        _ = library.send(bus, made, nil)
        _ = library.unrefMessage(made)
    }

    /// Sends all queued messages, and waits until they are sent.
    public func flush() throws(DBusError) {
        guard !isClosed, library.flush(bus) >= 0 else { throw Self.disconnected }
    }
}

/// The unanswered incoming calls, each with the object from which its answer is made. Their number is limited: the oldest call is dropped
/// first.
struct UnansweredCalls<Call> {
    private struct Caller: Hashable {
        var sender: String?
        var serial: UInt64

        init(_ message: DBusMessage) {
            sender = message.sender
            serial = message.serial
        }
    }

    private let limit: Int
    private var calls: [Caller: Call] = [:]
    /// The oldest call comes first. Some of these calls may already have been answered.
    private var callers: [Caller] = []

    init(limit: Int = DBusLimits.unanswered) { self.limit = limit }

    /// - Returns: the call that is dropped instead: an earlier call of the same number, or, beyond the limit, the oldest call, which is
    ///   unlikely to be answered after so long.
    mutating func keep(_ call: Call, of message: DBusMessage) -> Call? {
        let caller = Caller(message)
        if let earlier = calls.updateValue(call, forKey: caller) { return earlier }
        callers.append(caller)
        guard calls.count > limit else { return nil }
        let oldest = callers.first { calls[$0] != nil }.flatMap { calls.removeValue(forKey: $0) }
        callers.removeAll { calls[$0] == nil }
        return oldest
    }

    /// Returns the object from which a call's answer is made; nil if the call was answered, expects no answer, or was dropped.
    mutating func take(_ message: DBusMessage) -> Call? {
        let caller = Caller(message)
        guard let call = calls.removeValue(forKey: caller) else { return nil }
        if callers.first == caller {
            callers.removeFirst()
        } else if callers.count > 2 * calls.count + 16 {
            callers.removeAll { calls[$0] == nil }
        }
        return call
    }

    mutating func takeAll() -> [Call] {
        defer { (calls, callers) = ([:], []) }
        return Array(calls.values)
    }
}

/// The address of a bus.
public struct DBusAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address in the form of the D-Bus specification: `unix:path=/run/dbus/system_bus_socket`; several are separated by semicolons.
    public var description: String

    /// Whether each of its parts names a transport before a colon (D-Bus specification, "Server Addresses").
    var isWellFormed: Bool {
        let parts = description.split(separator: ";")
        return !parts.isEmpty
            && parts.allSatisfy { part in
                guard let colon = part.firstIndex(of: ":"), colon > part.startIndex else { return false }
                return part[..<colon].utf8.allSatisfy {
                    $0.isASCIILetterOrDigit || "-_".utf8.contains($0)
                }
            }
    }

    /// Returns the given address.
    public static func at(_ address: String) -> DBusAddress { DBusAddress(description: address) }

    /// The system's bus, or the one that `DBUS_SYSTEM_BUS_ADDRESS` names.
    public static var system: DBusAddress {
        let named = getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
        if let named, !named.isEmpty { return .at(named) }
        // The first is today's path, the second that of machines without /run.
        return .at("unix:path=/run/dbus/system_bus_socket;unix:path=/var/run/dbus/system_bus_socket")
    }
}
