import DBus
import Logging
import Synchronization

/// This machine's Bluetooth, as far as boards need it: one adapter of BlueZ's, what it hears, and the connections through it.
///
/// One value serves a whole process: the transports of fifty boards share its connection to the bus and its scanner.
public final class BluetoothCentral: Sendable {
    let watch: ObjectWatch
    let logger: Logger
    /// The adapter's path, `/org/bluez/hci0`.
    let adapter: String
    /// The boards of this process's transports.
    let holds: BoardHolds
    private let client: DBusClient
    let discovery: Discovery
    private let pairing: PairingAgent
    /// Whether the adapter could hear something when it was last heard of.
    private let wasReady = Mutex(true)

    /// How long opening may take in all: a missing adapter is told before a person wonders.
    static let openingLimit = Duration.milliseconds(1800)

    /// How long BlueZ may take for what it answers at once: whatever does not wait for the radio.
    static let callLimit = Duration.seconds(5)

    /// The adapter's name, `hci0`.
    public var adapterName: String { AdapterChoice.name(adapter) }

    /// Reaches BlueZ and chooses an adapter. Nothing is sent by radio.
    ///
    /// - Parameters:
    ///   - adapter: `hci1` or an adapter's address; nil takes the first that is switched on.
    ///   - bus: where BlueZ is; the system's bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    ///   - isBlocked: whether rfkill holds Bluetooth off; nil asks the kernel.
    /// - Throws: `noBus`, `noBlueZ`, `noAdapter`, `poweredOff`, `blocked` or `accessDenied`, within two seconds; `cancelled`.
    public static func open(
        adapter: String? = nil, bus: DBusAddress = .system, isBlocked: (() -> Bool)? = nil,
        logger: Logger
    ) async throws(BluetoothError) -> BluetoothCentral {
        let began = ContinuousClock.now
        func left() -> Duration { max(.milliseconds(50), openingLimit - (ContinuousClock.now - began)) }

        let watch = ObjectWatch()
        let feed = BlueZFeed(watch)
        let client: DBusClient
        do { client = try await DBusClient.connect(bus, within: left(), handlers: feed.handlers) } catch {
            throw BluetoothError(opening: error)
        }
        do {
            try await feed.begin(client, within: left)
            try await load(watch, client, within: left())
        } catch {
            client.close()
            throw BluetoothError(opening: error)
        }
        let path: String
        do throws(BluetoothError) {
            let tree = watch.read { $0 }
            path = try AdapterChoice.path(
                in: tree, wanted: adapter, isBlocked: { isBlocked.map { $0() } ?? RadioSwitch.isBlocked() })
        } catch {
            client.close()
            throw error
        }
        let central = BluetoothCentral(
            watch: watch, client: client, adapter: path, pairing: feed.pairing, logger: logger)
        feed.follow { [weak central] in central?.take($0) }
        logger.debug("bluetooth adapter", metadata: ["adapter": "\(path)"])
        return central
    }

    private init(
        watch: ObjectWatch, client: DBusClient, adapter: String, pairing: PairingAgent, logger: Logger
    ) {
        self.watch = watch
        self.client = client
        self.adapter = adapter
        self.pairing = pairing
        self.logger = logger
        // Who waits for that board looks again.
        holds = BoardHolds { [watch] path in watch.change { _ in .object(path) } }
        discovery = Discovery(
            start: {
                do throws(DBusError) {
                    // Active scanning is BlueZ's default; without "le" it would look for classic devices half the time.
                    let filter = DBusValue.properties([("Transport", .string("le")), ("DuplicateData", .bool(false))])
                    try await client.call(
                        DBusCall(BlueZName.service, adapter, BlueZName.adapter, "SetDiscoveryFilter", [filter]),
                        within: BluetoothCentral.callLimit)
                    try await client.call(
                        DBusCall(BlueZName.service, adapter, BlueZName.adapter, "StartDiscovery"),
                        within: BluetoothCentral.callLimit)
                    return .success(())
                } catch {
                    // Of this very connection, from before BlueZ answered.
                    if error.name == BlueZErrorName.inProgress { return .success(()) }
                    return .failure(BluetoothError(adapter: adapter, error))
                }
            },
            stop: {
                _ = try? await client.call(
                    DBusCall(BlueZName.service, adapter, BlueZName.adapter, "StopDiscovery"),
                    within: BluetoothCentral.callLimit)
            })
    }

    deinit { client.close() }

    /// Lets go of the bus; everything under way ends with `cancelled`.
    public func close() {
        watch.end(.cancelled)
        client.close()
    }

    // MARK: what links need

    /// A call to one of BlueZ's objects.
    @discardableResult
    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = [], within limit: Duration
    ) async throws(DBusError) -> [DBusValue] {
        try await client.call(DBusCall(BlueZName.service, path, interface, member, arguments), within: limit)
    }

    /// Sends calls that are not answered, and returns when the bus has them.
    func sendWithoutReply(_ calls: [DBusCall]) async {
        for call in calls { await client.post(call) }
        // The bus takes messages in their order.
        _ = try? await client.call(.bus("GetId"), within: .seconds(2))
    }

    /// Reads an object's properties anew: a signal about them may have been missed.
    func refresh(
        _ path: String, _ interface: String, within limit: Duration = callLimit
    ) async throws(DBusError) {
        let get = DBusCall(BlueZName.service, path, BlueZName.properties, "GetAll", [.string(interface)])
        try await client.call(get, within: limit) { [watch] answer in
            guard let properties = answer.first else { return }
            watch.change { tree in
                tree.merge(properties, into: interface, of: path)
                return .object(path)
            }
        }
    }

    /// Pairs by Just Works, which is all that boards can.
    func pair(_ device: String, within limit: Duration) async throws(BluetoothError) {
        do {
            try await pairing.register { call throws(DBusError) in
                try await self.client.call(call, within: Self.callLimit)
            }
            pairing.allow(device)
            defer { pairing.forbid(device) }
            try await call(device, BlueZName.device, "Pair", within: min(limit, .seconds(30)))
        } catch {
            if error.name == BlueZErrorName.alreadyExists { return }
            if error.code == .cancelled { throw .cancelled }
            throw BluetoothError(
                .pairingFailed,
                message: "The board wants an encrypted link, and pairing failed (\(error.message)). Remove old "
                    + "pairings with `bluetoothctl remove`, restart the board, and try again.")
        }
    }

    /// Sees to it that whoever looks for boards goes on after BlueZ was restarted, and after the adapter was off or away: BlueZ forgets
    /// who scanned when it switches an adapter off.
    private func take(_ event: BlueZFeed.Event) {
        switch event {
        case .restarted:
            wasReady.withLock { $0 = false }
            // Ends by itself, within the limits of its calls; nobody waits for it.
            Task { [self] in
                try? await Self.load(watch, client, within: Self.callLimit)
                await discovery.restart()
            }
        case .changed(let path):
            guard path == adapter else { return }
            let isReady = watch.read { AdapterChoice.trouble(with: path, in: $0) } == nil
            let wasReady = wasReady.withLock { wasReady in
                defer { wasReady = isReady }
                return wasReady
            }
            // As above.
            if isReady, !wasReady { Task { [self] in await discovery.restart() } }
        }
    }

    private static func load(
        _ watch: ObjectWatch, _ client: DBusClient, within limit: Duration
    ) async throws(DBusError) {
        let call = DBusCall(BlueZName.service, "/", BlueZName.objectManager, "GetManagedObjects")
        try await client.call(call, within: limit) { answer in
            guard let managed = answer.first else { return }
            watch.change { tree in
                tree.load(managed)
                return .everything
            }
        }
    }
}
