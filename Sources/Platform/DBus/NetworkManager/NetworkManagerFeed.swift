// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

/// What NetworkManager says by itself: that something has changed, which wakes who waits, and why a device failed.
///
/// Any user may send this connection signals; only NetworkManager's own count (``DBusNameOwner``). What is true is read anew after each.
final class NetworkManagerFeed: Sendable {
    private struct State {
        var owner = DBusNameOwner(of: NetworkManagerName.service)
        var changes = 0
        var waiting: [Waiter<Void>] = []
        /// NMDeviceStateReason of the last failure, by the device's path.
        var failures: [String: Int] = [:]
    }

    private let state = Mutex(State())

    var handlers: DBusClient.Handlers {
        DBusClient.Handlers(
            admits: { message in self.state.withLock { $0.owner.admits(message) } },
            signal: { self.take($0) }, lost: { _ in self.ring() })
    }

    /// Subscribes to NetworkManager's signals. Throws `remote` where it is not on the bus and cannot be started.
    func begin(_ client: DBusClient, within limit: Duration) async throws(DBusError) {
        let (rule, question) = state.withLock { ($0.owner.rule, $0.owner.question) }
        try await client.match("type='signal',sender='\(NetworkManagerName.service)'", within: limit)
        try await client.match(rule, within: limit)
        try await client.call(question, within: limit) { answer in self.state.withLock { $0.owner.learn(answer) } }
    }

    /// How many changes there were so far: to be read before what is looked at.
    var changes: Int { state.withLock { $0.changes } }

    /// Returns with the first change after that many, after `limit` at the latest, and at once where the task is cancelled.
    func change(after known: Int, within limit: Duration) async {
        let waiter = Waiter<Void>()
        let isOver = state.withLock { state in
            guard state.changes == known else { return true }
            state.waiting.append(waiter)
            return false
        }
        guard !isOver else { return }
        await waiter.value(within: limit) { [self] _ in
            state.withLock { state in state.waiting.removeAll { $0 === waiter } }
            waiter.resume()
        }
    }

    func forgetFailure(of device: String) { state.withLock { $0.failures[device] = nil } }
    func failure(of device: String) -> Int? { state.withLock { $0.failures[device] } }

    private func take(_ signal: DBusMessage) {
        state.withLock { state in
            if state.owner.follow(signal) != nil { return }
            guard state.owner.sent(signal), signal.interface == NetworkManagerName.device,
                signal.member == "StateChanged", signal.arguments.count == 3, let path = signal.path,
                signal.arguments[0].integer == Self.failed, state.failures.count < 64
            else { return }
            state.failures[path] = signal.arguments[2].integer
        }
        ring()
    }

    private func ring() {
        let waiting = state.withLock { state in
            state.changes += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    /// NM_DEVICE_STATE_FAILED.
    private static let failed = 120
}

/// Names of NetworkManager's API (its D-Bus reference manual).
enum NetworkManagerName {
    static let service = "org.freedesktop.NetworkManager"
    static let path = "/org/freedesktop/NetworkManager"
    static let settingsPath = "/org/freedesktop/NetworkManager/Settings"
    static let settings = "org.freedesktop.NetworkManager.Settings"
    static let device = "org.freedesktop.NetworkManager.Device"
    static let wireless = "org.freedesktop.NetworkManager.Device.Wireless"
    static let accessPoint = "org.freedesktop.NetworkManager.AccessPoint"
    static let active = "org.freedesktop.NetworkManager.Connection.Active"
    static let properties = "org.freedesktop.DBus.Properties"
}
