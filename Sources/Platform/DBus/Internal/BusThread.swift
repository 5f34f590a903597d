// SPDX-License-Identifier: Apache-2.0
import RainIO

/// The thread that owns the connection.
final class BusThread {
    private let queue: CallQueue
    private let handlers: DBusClient.Handlers
    /// Calls that were sent, by serial.
    private var sent: [UInt64: CallQueue.PendingCall] = [:]

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
                for pending in unsent { send(pending, connection) }
                try connection.drain(admitting: handlers.admits) { message throws(DBusError) in
                    try handle(message, connection)
                }
                expire()
                wait(connection)
            }
        } catch {
            queue.end(error)
            handlers.lost(error)
        }
        connection.close()
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
            guard let serial = message.replySerial, let pending = sent.removeValue(forKey: serial) else { return }
            if message.kind == .reply { pending.inOrder?(message.arguments) }
            queue.answer(
                pending.id, message.kind == .reply ? .success(message.arguments) : .failure(DBusError(reply: message)))
        }
    }

    private func expire() {
        guard !sent.isEmpty else { return }
        let now = monotonicMicroseconds()
        for (serial, call) in sent where call.deadline <= now {
            sent[serial] = nil
            queue.answer(call.id, .failure(DBusError(.timeout, message: "No answer over D-Bus in time.")))
        }
    }

    private func wait(_ connection: DBusConnection) {
        let due = min(connection.due ?? .max, sent.values.map(\.deadline).min() ?? .max)
        var waiting: [PollEntry] = [
            PollEntry(connection.descriptor, for: PollEvents(rawValue: connection.events)),
            .readable(queue.wakeup.reader),
        ]
        _ = pollDescriptors(&waiting, until: due == .max ? nil : MonotonicDeadline(microseconds: due))
    }
}
