// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Synchronization

/// BlueZ's signals, as they arrive on the thread of the bus, and no signals that pretend to be BlueZ's.
///
/// On the system's bus every user of the machine can send a signal to this connection, and so invent a board, the end of a link or the end
/// of BlueZ. Only two senders count here: BlueZ's own connection, and the bus, which says which connection that is.
final class BlueZFeed: Sendable {
    let watch: ObjectWatch
    let pairing = PairingAgent()
    private let owner = Mutex(DBusNameOwner(of: BlueZName.service))
    private let follower = Mutex<Follower?>(nil)

    /// Not a bare closure in the mutex: each reading would put it into another wrapper (Swift 6.3 converts a closure that is handed out and
    /// back as generic), and calls would become deeper with each signal.
    private struct Follower {
        var take: @Sendable (Event) -> Void
    }

    enum Event {
        /// BlueZ is on the bus anew: everything that it said before is forgotten.
        case restarted
        case changed(String)
    }

    init(_ watch: ObjectWatch) { self.watch = watch }

    var handlers: DBusClient.Handlers {
        DBusClient.Handlers(
            admits: { message in self.owner.withLock { $0.admits(message) } },
            signal: { self.take($0) },
            // Only calls of BlueZ's: the bus, whose signals are accepted as well, makes none.
            call: { self.pairing.answer($0) },
            lost: { _ in self.watch.end(.busLost) })
    }

    /// Subscribes to BlueZ's signals, and asks the bus which connection is BlueZ's.
    func begin(_ client: DBusClient, within limit: () -> Duration) async throws(DBusError) {
        let (rule, question) = owner.withLock { ($0.rule, $0.question) }
        try await client.match("type='signal',sender='\(BlueZName.service)'", within: limit())
        try await client.match(rule, within: limit())
        do {
            try await client.call(question, within: limit()) { answer in self.owner.withLock { $0.learn(answer) } }
        } catch {
            // The first call to it may start BlueZ, and then a signal says who it is.
            guard error.name == DBusErrorName.nameHasNoOwner else { throw error }
        }
    }

    /// Called with what happened, on the thread of the bus.
    func follow(_ body: @escaping @Sendable (Event) -> Void) { follower.withLock { $0 = Follower(take: body) } }

    private func take(_ signal: DBusMessage) {
        if let isThere = owner.withLock({ $0.follow(signal) }) {
            pairing.forget()
            watch.change { tree in
                tree.removeAll()
                tree.isServed = isThere
                return .everything
            }
            if isThere { follower.withLock { $0 }?.take(.restarted) }
        } else if owner.withLock({ $0.sent(signal) }) {
            guard case .object(let path) = watch.change({ $0.apply(signal) }) else { return }
            follower.withLock { $0 }?.take(.changed(path))
        }
    }
}
