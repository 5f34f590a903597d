import Glibc

/// One connection to a bus, used from one thread.
///
/// A loop waits for ``descriptor`` with ``events``, and for ``due``, and then, whichever of them came, calls
/// ``drain(admitting:_:)``. Replies to calls that ``send(_:)`` sent come out of it like everything else, with the call's number in
/// ``DBusMessage/replySerial``; waiting for them, with a deadline, is the caller's. `org.freedesktop.DBus.Peer` is answered by sd-bus.
///
/// It never waits longer than it is told to, and every error is a ``DBusError``.
public final class DBusConnection {
    /// This connection's own name on the bus, such as `:1.42`.
    public let uniqueName: String

    private let library: SystemdLibrary
    private let bus: SystemdLibrary.Object
    /// Calls to us, which sd-bus wants back when they are answered; the oldest first.
    private var unanswered: [Caller: SystemdLibrary.Object] = [:]
    private var callers: [Caller] = []
    private var isClosed = false

    private struct Caller: Hashable {
        var sender: String?
        var serial: UInt64
    }

    /// Connects and says hello.
    ///
    /// - Throws: `unavailable` where nobody listens, `accessDenied`, or `timeout`.
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
                throw DBusError(.unavailable, message: "D-Bus at \(address) gives this connection no name.")
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
        try check(address.description.withCString { library.setAddress(bus, $0) }, address)
        try check(library.setBusClient(bus, 1), address)
        try check(library.start(bus), address)
        let end = monotonic() + microseconds(limit)
        while true {
            var message: SystemdLibrary.Object?
            let result = library.process(bus, &message)
            if let message { _ = library.unrefMessage(message) }
            try check(result, address)
            if library.isReady(bus) > 0 { return }
            if result > 0 { continue }
            guard monotonic() < end else {
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
                .accessDenied, message: "D-Bus at \(address) does not let this user in: \(reason(-result)).")
        default:
            throw DBusError(.unavailable, message: "D-Bus at \(address) cannot be reached: \(reason(-result)).")
        }
    }

    deinit {
        close()
        _ = library.unref(bus)
    }

    /// Ends the connection; what was not sent yet is dropped.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        for message in unanswered.values { _ = library.unrefMessage(message) }
        unanswered = [:]
        callers = []
        library.close(bus)
    }

    // MARK: the loop

    public var descriptor: Int32 { isClosed ? -1 : library.descriptor(bus) }

    /// What to wait for, in the bits of `poll(2)`.
    public var events: Int16 {
        guard !isClosed else { return 0 }
        let events = library.events(bus)
        return events < 0 ? Int16(POLLIN) : Int16(truncatingIfNeeded: events)
    }

    /// When to look at the latest, in microseconds of `CLOCK_MONOTONIC`; nil for never. What was read already, and not handed over
    /// yet, is due at once: it makes ``descriptor`` readable no more.
    public var due: UInt64? {
        guard !isClosed else { return nil }
        var time = UInt64.max
        guard library.timeout(bus, &time) >= 0, time != .max else { return nil }
        return time
    }

    /// The next message that is there, or nil for none now. A message that breaks the rules is answered with an error where it
    /// was a call, and passed over otherwise. After ``DBusLimits/turn`` of those it is nil as well, and the loop comes back at once:
    /// whoever floods this connection does not hold its thread.
    ///
    /// - Parameter admits: asked about signals and calls by their heads, before anything else of them is read: what it refuses
    ///   costs next to nothing, however long it is. A call is told so.
    /// - Throws: `disconnected` once the bus is gone.
    public func process(
        admitting admits: (DBusMessage) -> Bool = { _ in true }
    ) throws(DBusError) -> DBusMessage? {
        guard !isClosed else { throw Self.disconnected }
        for _ in 0..<DBusLimits.turn {
            var made: SystemdLibrary.Object?
            let result = library.process(bus, &made)
            if result < 0 {
                // A message of another's that sd-bus itself could not parse.
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

    /// Hands over the messages that are there, in their order, and comes back after ``DBusLimits/turn`` of them: the rest is ``due`` then.
    /// It ends early where the connection is closed meanwhile.
    ///
    /// - Throws: what ``process(admitting:)`` and `body` throw.
    public func drain(
        admitting admits: (DBusMessage) -> Bool = { _ in true }, _ body: (DBusMessage) throws(DBusError) -> Void
    ) throws(DBusError) {
        for _ in 0..<DBusLimits.turn {
            guard let message = try process(admitting: admits) else { return }
            try body(message)
            if isClosed { return }
        }
    }

    private static var disconnected: DBusError {
        DBusError(.disconnected, message: "The connection to D-Bus is gone.")
    }

    private func accept(
        _ raw: SystemdLibrary.Object, _ admits: (DBusMessage) -> Bool
    ) throws(DBusError) -> DBusMessage? {
        var head = head(of: raw)
        // Made by sd-bus itself; the bus passes on none of that interface.
        if head?.interface == "org.freedesktop.DBus.Local", head?.member == "Disconnected" { throw Self.disconnected }
        if let head, head.kind == .signal || head.kind == .call, !admits(head) {
            if head.kind == .call {
                refuse(raw, "org.freedesktop.DBus.Error.AccessDenied", "This is not for you to ask.")
            }
            return nil
        }
        do throws(DBusError) {
            var reader = MessageReader(library, raw)
            head?.arguments = try reader.values()
        } catch {
            guard head?.kind == .reply || head?.kind == .error else {
                if head?.kind == .call {
                    refuse(raw, "org.freedesktop.DBus.Error.InvalidArgs", error.message)
                }
                return nil
            }
            // Whoever waits for it hears of it.
            head?.kind = .error
            head?.errorName = "org.freedesktop.DBus.Error.InvalidArgs"
            head?.arguments = [.string(error.message)]
        }
        guard let message = head else { return nil }
        if message.kind == .call, message.expectsReply { remember(raw, of: message) }
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

    private func remember(_ raw: SystemdLibrary.Object, of message: DBusMessage) {
        let caller = Caller(sender: message.sender, serial: message.serial)
        if let earlier = unanswered.updateValue(raw, forKey: caller) {
            _ = library.unrefMessage(earlier)
        } else {
            callers.append(caller)
        }
        _ = library.ref(raw)
        guard unanswered.count > DBusLimits.unanswered else { return }
        // Whoever does not answer for so long does not mean to.
        if let oldest = callers.first(where: { unanswered[$0] != nil }),
            let raw = unanswered.removeValue(forKey: oldest)
        {
            _ = library.unrefMessage(raw)
        }
        callers.removeAll { unanswered[$0] == nil }
    }

    private func takeUnanswered(_ message: DBusMessage) -> SystemdLibrary.Object? {
        let caller = Caller(sender: message.sender, serial: message.serial)
        guard let raw = unanswered.removeValue(forKey: caller) else { return nil }
        if callers.first == caller {
            callers.removeFirst()
        } else if callers.count > 2 * unanswered.count + 16 {
            callers.removeAll { unanswered[$0] == nil }
        }
        return raw
    }

    private func refuse(_ raw: SystemdLibrary.Object, _ name: String, _ text: String) {
        guard library.expectsReply(raw) > 0, let made = try? newError(raw, name, text) else { return }
        _ = library.send(bus, made, nil)
        _ = library.unrefMessage(made)
    }

    // MARK: sending

    /// Queues a message and sends as much as goes at once. A reply to a call that wants none, or that was answered already, is dropped.
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
                ? DBusError(.malformed, message: "a message cannot be sent: \(reason(-result))") : Self.disconnected
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
            guard let raw = takeUnanswered(call) else { return nil }
            defer { _ = library.unrefMessage(raw) }
            arguments = values
            result = library.newReturn(raw, &made)
        case .error(let call, let name, let text):
            guard let raw = takeUnanswered(call) else { return nil }
            defer { _ = library.unrefMessage(raw) }
            return try newError(raw, name, text)
        }
        guard result >= 0, let made else {
            throw DBusError(.malformed, message: "a message cannot be made: \(reason(-result))")
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
            throw DBusError(.malformed, message: "an error cannot be made of \(name): \(reason(-result))")
        }
        return made
    }

    /// Sends what is queued, and waits until all of it has gone.
    public func flush() throws(DBusError) {
        guard !isClosed, library.flush(bus) >= 0 else { throw Self.disconnected }
    }

    // MARK: waiting

    /// Calls, and waits for the answer; for the few calls at the start of a service. What else arrives meanwhile is handed to `other`.
    ///
    /// - Throws: `remote` with the error's name, `timeout`, and what ``send(_:)`` throws.
    public func callAndWait(
        _ call: DBusCall, within limit: Duration = .seconds(2), other: (DBusMessage) -> Void = { _ in }
    ) throws(DBusError) -> [DBusValue] {
        let serial = try send(.call(call))
        let end = Self.monotonic() + Self.microseconds(limit)
        while true {
            while Self.monotonic() < end, let message = try process() {
                guard message.replySerial == serial else {
                    other(message)
                    continue
                }
                if message.kind == .error { throw DBusError(reply: message) }
                return message.arguments
            }
            guard Self.monotonic() < end else {
                throw DBusError(.timeout, message: "\(call.destination) did not answer \(call.member).")
            }
            Self.wait(library, bus, until: end)
        }
    }

    private static func wait(_ library: SystemdLibrary, _ bus: SystemdLibrary.Object, until end: UInt64) {
        var time = UInt64.max
        _ = library.timeout(bus, &time)
        let now = monotonic()
        let until = min(time, end)
        let milliseconds = until <= now ? 0 : (until - now + 999) / 1000
        let events = library.events(bus)
        var waiting = pollfd(
            fd: library.descriptor(bus), events: Int16(truncatingIfNeeded: max(events, 0)), revents: 0)
        _ = poll(&waiting, 1, Int32(clamping: milliseconds))
    }

    /// Microseconds of `CLOCK_MONOTONIC`.
    static func monotonic() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }

    static func microseconds(_ duration: Duration) -> UInt64 {
        // What is over already is due at once.
        let (seconds, attoseconds) = max(duration, .zero).components
        return UInt64(seconds) * 1_000_000 + UInt64(attoseconds / 1_000_000_000_000)
    }
}

extension DBusError {
    /// What an error message says.
    public init(reply: DBusMessage) {
        self.init(.remote, name: reply.errorName, message: reply.arguments.first?.text ?? "no reason given")
    }
}
