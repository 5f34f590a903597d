import DBus
import Logging

/// This machine's Bluetooth, as far as boards need it: one adapter of BlueZ's, what it hears, and the connections through it.
///
/// One value serves a whole process: the transports of fifty boards share its connection to the bus and its scanner.
public final class BluetoothCentral: Sendable {
    let watch: ObjectWatch
    let clock: any Clock<Duration>
    let logger: Logger
    /// The adapter's path, `/org/bluez/hci0`.
    let adapter: String
    private let client: DBusClient
    private let discovery: Discovery
    private let pairing: PairingAgent

    /// How long opening may take in all: a missing adapter is told before a person wonders.
    static let openingLimit = Duration.milliseconds(1800)

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
        clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) async throws(BluetoothError) -> BluetoothCentral {
        let began = ContinuousClock.now
        func left() -> Duration { max(.milliseconds(50), openingLimit - (ContinuousClock.now - began)) }

        let watch = ObjectWatch(clock: clock)
        let feed = BlueZFeed(watch)
        let client: DBusClient
        do { client = try await DBusClient.connect(bus, within: left(), handlers: feed.handlers) } catch {
            throw opening(error)
        }
        do {
            try await feed.begin(client, within: left)
            try await load(watch, client, within: left())
        } catch {
            client.close()
            throw opening(error)
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
            watch: watch, client: client, adapter: path, pairing: feed.pairing, clock: clock, logger: logger)
        feed.onRestart { [weak central] in central?.reload() }
        logger.debug("bluetooth adapter", metadata: ["adapter": "\(path)"])
        return central
    }

    private init(
        watch: ObjectWatch, client: DBusClient, adapter: String, pairing: PairingAgent, clock: any Clock<Duration>,
        logger: Logger
    ) {
        self.watch = watch
        self.client = client
        self.adapter = adapter
        self.pairing = pairing
        self.clock = clock
        self.logger = logger
        discovery = Discovery(
            start: {
                do throws(DBusError) {
                    // Active scanning is BlueZ's default; without "le" it would look for classic devices half the time.
                    let filter = DBusValue.properties([("Transport", .string("le")), ("DuplicateData", .bool(false))])
                    try await client.call(
                        DBusCall(BlueZName.service, adapter, BlueZName.adapter, "SetDiscoveryFilter", [filter]),
                        within: .seconds(5))
                    try await client.call(
                        DBusCall(BlueZName.service, adapter, BlueZName.adapter, "StartDiscovery"), within: .seconds(5))
                    return .success(())
                } catch {
                    // Of this very connection, from before BlueZ answered.
                    if error.name == "org.bluez.Error.InProgress" { return .success(()) }
                    return .failure(BluetoothError(adapter: adapter, error))
                }
            },
            stop: {
                _ = try? await client.call(
                    DBusCall(BlueZName.service, adapter, BlueZName.adapter, "StopDiscovery"), within: .seconds(5))
            })
    }

    deinit { client.close() }

    /// Lets go of the bus; everything under way ends with `cancelled`.
    public func close() {
        watch.end(.cancelled)
        client.close()
    }

    // MARK: looking for boards

    /// Scans, and hands over each board that fits as soon as it is heard, once, until `found` answers false or the time is over.
    ///
    /// A board that somebody on this machine is connected to does not advertise, and is handed over all the same.
    /// - Throws: what ails this machine (``BluetoothError/isOfThisMachine``), `cancelled`. Hearing nothing is no error.
    public func discover(
        _ filter: BoardFilter, for time: Duration, found: @Sendable (DiscoveredBoard) async -> Bool
    ) async throws(BluetoothError) {
        try await discovery.join()
        let result = await listen(filter, for: time, found: found)
        await discovery.leave()
        try result.get()
    }

    private func listen(
        _ filter: BoardFilter, for time: Duration, found: @Sendable (DiscoveredBoard) async -> Bool
    ) async -> Result<Void, BluetoothError> {
        let end = ContinuousClock.now + time
        var seen: Set<String> = []
        let adapter = adapter
        let prefix = adapter + "/dev_"
        let only = filter.path(below: adapter)
        while true {
            let known = seen
            let left = end - ContinuousClock.now
            guard left > .zero else { return .success(()) }
            do throws(BluetoothError) {
                let fresh = try await watch.wait(for: only, within: left) { tree, change -> [DiscoveredBoard]? in
                    let paths: [String]
                    switch (only, change) {
                    case (let only?, _): paths = [only]
                    case (nil, .object(let path)): paths = path.hasPrefix(prefix) ? [path] : []
                    case (nil, _): paths = tree.paths(with: BlueZName.device, below: adapter)
                    }
                    let boards = paths.compactMap { path in
                        known.contains(path) ? nil : DiscoveredBoard(path: path, in: tree)
                    }
                    let wanted = boards.filter { $0.isPresent && filter.matches($0) }
                    return wanted.isEmpty ? nil : wanted.sorted { ($0.rssi ?? 0) > ($1.rssi ?? 0) }
                }
                for board in fresh {
                    seen.insert(board.path)
                    guard await found(board) else { return .success(()) }
                }
            } catch {
                if error.code == .timeout { return .success(()) }
                return .failure(error)
            }
        }
    }

    // MARK: what links need

    /// A call to one of BlueZ's objects.
    @discardableResult
    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = [], within limit: Duration
    ) async throws(DBusError) -> [DBusValue] {
        try await client.call(DBusCall(BlueZName.service, path, interface, member, arguments), within: limit)
    }

    /// Sends a call that is not answered, and returns when the bus has it.
    func sendWithoutReply(_ call: DBusCall) async {
        await client.post(call)
        // The bus takes messages in their order.
        _ = try? await client.call(.bus("GetId"), within: .seconds(2))
    }

    /// Reads an object's properties anew: a signal about them may have been missed.
    func refresh(_ path: String, _ interface: String) async throws(DBusError) {
        let answer = try await call(path, BlueZName.properties, "GetAll", [.string(interface)], within: .seconds(5))
        guard let properties = answer.first else { return }
        watch.change { tree in
            tree.merge(properties, into: interface, of: path)
            return .object(path)
        }
    }

    /// Pairs by Just Works, which is all that boards can.
    func pair(_ device: String) async throws(BluetoothError) {
        do {
            try await pairing.register { call throws(DBusError) in
                try await self.client.call(call, within: .seconds(5))
            }
            pairing.allow(device)
            defer { pairing.forbid(device) }
            try await call(device, BlueZName.device, "Pair", within: .seconds(30))
        } catch {
            switch error.name {
            case "org.bluez.Error.AlreadyExists": return
            default:
                if error.code == .cancelled { throw .cancelled }
                throw BluetoothError(
                    .pairingFailed,
                    message: "The board wants an encrypted link, and pairing failed (\(error.message)). Remove old "
                        + "pairings with `bluetoothctl remove`, restart the board, and try again.")
            }
        }
    }

    private func reload() {
        Task { [self] in
            try? await Self.load(watch, client, within: .seconds(5))
            await discovery.restart()
        }
    }

    private static func load(
        _ watch: ObjectWatch, _ client: DBusClient, within limit: Duration
    ) async throws(DBusError) {
        let call = DBusCall(BlueZName.service, "/", BlueZName.objectManager, "GetManagedObjects")
        let answer = try await client.call(call, within: limit)
        guard let managed = answer.first else { return }
        watch.change { tree in
            tree.load(managed)
            return .everything
        }
    }

    private static func opening(_ error: DBusError) -> BluetoothError {
        switch error.code {
        case .cancelled: return .cancelled
        case .accessDenied: return .accessDenied(error.message)
        case .remote:
            if error.name == "org.freedesktop.DBus.Error.AccessDenied" { return .accessDenied(error.message) }
            return .noBlueZ(error.message)
        case .timeout where !error.message.contains(" at "): return .noBlueZ("it does not answer")
        default:
            return BluetoothError(
                .noBus,
                message:
                    "\(error.message) Bluetooth needs the system's D-Bus: install it (apt install dbus) and start it "
                    + "(sudo systemctl start dbus).")
        }
    }
}

extension BluetoothError {
    /// What an error of the adapter's means.
    init(adapter: String, _ error: DBusError) {
        switch (error.code, error.name) {
        case (.cancelled, _): self = .cancelled
        case (_, "org.bluez.Error.NotReady"): self = AdapterChoice.off(adapter)
        case (_, "org.bluez.Error.Blocked"):
            self.init(.blocked, message: "Bluetooth is blocked on this machine: `rfkill unblock bluetooth`.")
        case (_, "org.freedesktop.DBus.Error.AccessDenied"), (_, "org.bluez.Error.NotAuthorized"),
            (_, "org.bluez.Error.NotPermitted"):
            self = .accessDenied(error.message)
        case (_, "org.freedesktop.DBus.Error.UnknownObject"):
            self.init(
                .noAdapter,
                message: "The Bluetooth adapter \(AdapterChoice.name(adapter)) is gone: plug it in again.")
        case (_, "org.freedesktop.DBus.Error.ServiceUnknown"): self = .noBlueZ(error.message)
        case (.disconnected, _): self.init(.noBus, message: "The connection to D-Bus is gone.")
        default:
            self.init(
                .connectionFailed,
                message: "BlueZ could not use the adapter \(AdapterChoice.name(adapter)): \(error.message).")
        }
    }
}
