// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Logging
import Synchronization

/// One adapter of BlueZ's, as one connection to the bus reaches it: what it hears, and the links through it.
///
/// It cannot be used again once that connection is lost, or the adapter has another name: all waits end with `radioLost`, and
/// ``BluetoothCentral`` opens another. It survives a restart of BlueZ, and an adapter that is off or unplugged for a while.
final class OpenAdapter: Sendable {
    let watch: ObjectWatch
    let logger: Logger
    let chosen: ChosenAdapter
    /// The boards of this process's transports.
    let holds: ConnectionOwnership
    let discovery: Discovery
    let opened = ContinuousClock.now
    private let bus: BlueZCalls
    let pairing: PairingAgent
    /// Whether the adapter could receive when BlueZ last told of it.
    private let wasReady = Mutex(true)

    /// How long opening may take in all: short, so that a missing adapter is reported before a person wonders.
    static let openingLimit = Duration.milliseconds(1800)

    /// How long BlueZ may take for what it answers at once: whatever does not wait for the radio.
    static let callLimit = Duration.seconds(5)

    /// The adapter's path, `/org/bluez/hci0`.
    var path: String { chosen.path }

    /// What is opened.
    struct Request: Sendable {
        /// `hci1` or an adapter's address; nil for the first that is switched on.
        var adapter: String?
        var bus: DBusAddress
        var isBlocked: @Sendable () -> Bool
    }

    /// Reaches BlueZ and chooses an adapter. Nothing is sent by radio.
    static func open(_ request: Request, logger: Logger) async throws(BluetoothError) -> OpenAdapter {
        let began = ContinuousClock.now
        func left() -> Duration { max(.milliseconds(50), openingLimit - (ContinuousClock.now - began)) }

        let watch = ObjectWatch()
        let feed = BlueZFeed(watch)
        let client: DBusClient
        do { client = try await DBusClient.connect(request.bus, within: left(), handlers: feed.handlers) } catch {
            throw BluetoothError(opening: error)
        }
        let bus = BlueZCalls(client: client, watch: watch)
        do {
            try await feed.begin(client, within: left)
            try await bus.load(within: left())
        } catch {
            client.close()
            throw BluetoothError(opening: error)
        }
        let chosen: ChosenAdapter
        do throws(BluetoothError) {
            let tree = watch.read { $0 }
            let path = try AdapterChoice.path(in: tree, wanted: request.adapter, isBlocked: request.isBlocked)
            chosen = ChosenAdapter(path: path, wanted: request.adapter, in: tree)
        } catch {
            client.close()
            throw error
        }
        let adapter = OpenAdapter(bus, chosen, pairing: feed.pairing, logger: logger)
        feed.follow { [weak adapter] in adapter?.take($0) }
        logger.debug("bluetooth adapter", metadata: ["adapter": "\(chosen.path)"])
        return adapter
    }

    private init(_ bus: BlueZCalls, _ chosen: ChosenAdapter, pairing: PairingAgent, logger: Logger) {
        self.bus = bus
        self.chosen = chosen
        self.pairing = pairing
        self.logger = logger
        let (watch, path) = (bus.watch, chosen.path)
        self.watch = watch
        // Who waits for that board looks again.
        holds = ConnectionOwnership { path in watch.change { _ in .object(path) } }
        discovery = Discovery(
            start: { await bus.startScan(path) }, stop: { _ = await bus.stopScan(path) },
            isReady: { watch.read { chosen.trouble(in: $0) } == nil },
            note: { error in
                watch.change { tree in
                    tree.scanTrouble = error
                    return .object(path)
                }
            })
    }

    deinit { bus.client.close() }

    /// Closes the connection to the bus; everything under way ends with `cancelled`.
    func close() {
        watch.end(.cancelled)
        bus.client.close()
    }

    /// Ends this value where its adapter is gone and any other would do, so that another is opened.
    func endIfReplaceable() {
        if watch.read({ chosen.isReplaceable(in: $0) }) { watch.end(.adapterMoved(path)) }
    }

    // MARK: what links need

    /// A call to one of BlueZ's objects.
    @discardableResult
    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = [], within limit: Duration
    ) async throws(DBusError) -> [DBusValue] {
        try await bus.call(DBusCall(BlueZName.service, path, interface, member, arguments), within: limit)
    }

    /// Sends calls that are not answered, and returns when the bus has them.
    func sendWithoutReply(_ calls: [DBusCall]) async {
        for call in calls { await bus.client.post(call) }
        // The bus takes messages in their order.
        _ = try? await bus.call(.bus("GetId"), within: .seconds(2))
    }

    /// Reads an object's properties anew: a signal about them may have been missed.
    func refresh(
        _ path: String, _ interface: String, within limit: Duration = callLimit
    ) async throws(DBusError) {
        let get = DBusCall(BlueZName.service, path, BlueZName.properties, "GetAll", [.string(interface)])
        try await bus.call(get, within: limit) { [watch] answer in
            guard let properties = answer.first else { return }
            watch.change { tree in
                tree.merge(properties, into: interface, of: path)
                return .object(path)
            }
        }
    }

    // MARK: what BlueZ says

    /// Sees to it that searches for boards go on after BlueZ was restarted, and after the adapter was off or away: BlueZ forgets
    /// who scanned when it switches an adapter off.
    private func take(_ event: BlueZFeed.Event) {
        switch event {
        case .restarted:
            wasReady.withLock { $0 = false }
            // Ends by itself, within the limits of its calls; nobody waits for it.
            Task { [self] in
                do { try await bus.load(within: Self.callLimit) } catch {
                    // Nobody would ask a second time. One that has left again tells of its return.
                    if watch.read(\.isServed) { watch.end(.unclear) }
                    return
                }
                endIfMoved()
                await discovery.restart()
            }
        case .changed(let path):
            if path != self.path {
                if AdapterChoice.isAdapter(path) { endIfMoved() }
                return
            }
            let isReady = watch.read { chosen.trouble(in: $0) } == nil
            let wasReady = wasReady.withLock { wasReady in
                defer { wasReady = isReady }
                return wasReady
            }
            // As above.
            if isReady, !wasReady { Task { [self] in await discovery.restart() } }
        }
    }

    private func endIfMoved() {
        if watch.read({ chosen.hasMoved(in: $0) }) { watch.end(.adapterMoved(path)) }
    }
}
