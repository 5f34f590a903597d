// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Synchronization

/// Calls over one connection to the bus. The first call that finds the connection lost ends all waits for BlueZ, so that it is not used
/// again.
struct BlueZCalls: Sendable {
    let client: DBusClient
    let watch: ObjectWatch

    @discardableResult
    func call(
        _ call: DBusCall, within limit: Duration, inOrder: (@Sendable ([DBusValue]) -> Void)? = nil
    ) async throws(DBusError) -> [DBusValue] {
        do {
            return try await client.call(call, within: limit, inOrder: inOrder)
        } catch {
            note(error)
            throw error
        }
    }

    func note(_ error: DBusError) {
        if error.code == .disconnected { watch.end(.busLost) }
    }

    /// Reads all of BlueZ's objects.
    func load(within limit: Duration) async throws(DBusError) {
        let managed = DBusCall(BlueZName.service, "/", BlueZName.objectManager, "GetManagedObjects")
        try await call(managed, within: limit) { [watch] answer in
            guard let managed = answer.first else { return }
            watch.change { tree in
                tree.load(managed)
                return .everything
            }
        }
    }

    /// Starts the scan of this connection.
    ///
    /// BlueZ answers `InProgress` if the kernel could not start scanning, and then forgets the caller (`start_discovery_complete` in
    /// src/adapter.c). It gives the same answer to a connection that is already scanning, because an earlier answer was lost.
    func startScan(_ adapter: String) async -> Result<Void, BluetoothError> {
        do throws(DBusError) {
            // Active scanning is BlueZ's default. Without "le" it would search for classic devices half of the time.
            let filter = DBusValue.properties([("Transport", .string("le")), ("DuplicateData", .bool(false))])
            try await call(
                DBusCall(BlueZName.service, adapter, BlueZName.adapter, "SetDiscoveryFilter", [filter]),
                within: OpenAdapter.callLimit)
            do throws(DBusError) {
                try await startDiscovery(adapter)
            } catch {
                guard error.name == BlueZErrorName.inProgress, await stopScan(adapter) else { throw error }
                try await startDiscovery(adapter)
            }
            return .success(())
        } catch {
            return .failure(BluetoothError(scanning: adapter, error))
        }
    }

    private func startDiscovery(_ adapter: String) async throws(DBusError) {
        try await call(
            DBusCall(BlueZName.service, adapter, BlueZName.adapter, "StartDiscovery"), within: OpenAdapter.callLimit)
    }

    /// Stops the scan; returns whether this connection had one.
    @discardableResult
    func stopScan(_ adapter: String) async -> Bool {
        let stop = DBusCall(BlueZName.service, adapter, BlueZName.adapter, "StopDiscovery")
        return (try? await call(stop, within: OpenAdapter.callLimit)) != nil
    }
}

/// BlueZ's signals, on the thread of the bus. Signals that pretend to be BlueZ's are ignored.
///
/// On the system bus every user of the machine can send a signal to this connection. Such a signal could invent a board, the end of a link
/// or the end of BlueZ. Only two senders are accepted: BlueZ's own connection, and the bus, which reports BlueZ's connection.
final class BlueZFeed: Sendable {
    let watch: ObjectWatch
    let pairing = PairingAgent()
    private let owner = Mutex(DBusNameOwner(of: BlueZName.service))
    private let follower = Mutex<Follower?>(nil)

    /// Not a bare closure in the mutex. Swift 6.3 converts a closure that is passed out and back as generic, so each reading would add
    /// another wrapper, and calls would become deeper with each signal.
    private struct Follower {
        var take: @Sendable (Event) -> Void
    }

    enum Event {
        /// BlueZ is on the bus again: all earlier facts about it are forgotten.
        case restarted
        case changed(String)
    }

    init(_ watch: ObjectWatch) { self.watch = watch }

    var handlers: DBusClient.Handlers {
        DBusClient.Handlers(
            admits: { message in self.owner.withLock { $0.admits(message) } },
            signal: { self.take($0) },
            // Only calls of BlueZ: the bus, whose signals are also accepted, makes none.
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
            // The first call may start BlueZ; a signal then reports its connection.
            guard error.name == DBusErrorName.nameHasNoOwner else { throw error }
        }
    }

    /// Sets the function that is called with each event, on the thread of the bus.
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

/// Names of BlueZ's interfaces (BlueZ, doc/).
enum BlueZName {
    static let service = "org.bluez"
    /// The path above the adapters.
    static let root = "/org/bluez"
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let gattService = "org.bluez.GattService1"
    static let characteristic = "org.bluez.GattCharacteristic1"
    static let descriptor = "org.bluez.GattDescriptor1"
    static let agentManager = "org.bluez.AgentManager1"
    static let agent = "org.bluez.Agent1"
    static let properties = "org.freedesktop.DBus.Properties"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
}

/// Names of BlueZ's errors (BlueZ, src/error.h and doc/).
enum BlueZErrorName {
    static let alreadyConnected = "org.bluez.Error.AlreadyConnected"
    static let alreadyExists = "org.bluez.Error.AlreadyExists"
    static let blocked = "org.bluez.Error.Blocked"
    static let doesNotExist = "org.bluez.Error.DoesNotExist"
    static let failed = "org.bluez.Error.Failed"
    static let inProgress = "org.bluez.Error.InProgress"
    static let invalidArguments = "org.bluez.Error.InvalidArguments"
    static let notAuthorized = "org.bluez.Error.NotAuthorized"
    static let notAvailable = "org.bluez.Error.NotAvailable"
    static let notConnected = "org.bluez.Error.NotConnected"
    static let notPermitted = "org.bluez.Error.NotPermitted"
    static let notReady = "org.bluez.Error.NotReady"
    static let notSupported = "org.bluez.Error.NotSupported"
    static let rejected = "org.bluez.Error.Rejected"

    /// Whether the controller has no room for another connection: HCI errors 0x09 and 0x07, which the kernel reports as `EMLINK` and
    /// `ENOMEM` (BlueZ, src/error.c; older versions send `strerror`).
    static func isConnectionLimit(_ error: DBusError) -> Bool {
        guard error.code == .remote, error.name == failed else { return false }
        return error.message.hasSuffix("-connection-concurrent-connection-limit") || error.message == "Too many links"
            || error.message.hasSuffix("-connection-memory-allocation")
    }
}
