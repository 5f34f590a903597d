import RainWaiting

/// The thread that owns the connection.
final class BusThread {
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
            mailbox.start.resume(returning: .failure(error))
            return
        }
        mailbox.start.resume(returning: .success(()))
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
        let now = monotonicMicroseconds()
        for (serial, call) in sent where call.deadline <= now {
            sent[serial] = nil
            mailbox.answer(call.id, .failure(DBusError(.timeout, message: "No answer over D-Bus in time.")))
        }
    }

    private func wait(_ connection: DBusConnection) {
        let due = min(connection.due ?? .max, sent.values.map(\.deadline).min() ?? .max)
        var waiting: [PollEntry] = [
            PollEntry(connection.descriptor, for: PollEvents(rawValue: connection.events)),
            .readable(mailbox.bell.reader),
        ]
        _ = pollDescriptors(&waiting, until: due == .max ? nil : MonotonicDeadline(microseconds: due))
    }
}
