// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Sending: calls, signals, and the answers to calls.
extension DBusConnection {
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

    /// Answers a call with an error, without passing it to anyone, if its sender expects a reply.
    func refuse(_ raw: SystemdLibrary.Object, _ name: String, _ text: String) {
        guard library.expectsReply(raw) > 0, let made = try? newError(raw, name, text) else { return }
        _ = library.send(bus, made, nil)
        _ = library.unrefMessage(made)
    }

    /// Sends what is queued, and waits until all of it has gone.
    public func flush() throws(DBusError) {
        guard !isClosed, library.flush(bus) >= 0 else { throw Self.disconnected }
    }
}
