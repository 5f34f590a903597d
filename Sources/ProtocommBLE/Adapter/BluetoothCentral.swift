import DBus
import Logging
import Synchronization

/// This machine's Bluetooth, as far as boards need it: one adapter of BlueZ's, what it hears, and the connections through it.
///
/// One value serves a whole process: the transports of fifty boards share its connection to the bus and its scanner.
public final class BluetoothCentral: Sendable {
    let watch: ObjectWatch
    let clock: any Clock<Duration>
    let logger: Logger
    /// The adapter's path, `/org/bluez/hci0`.
    let adapter: String
    /// The boards of this process's transports.
    let holds: BoardHolds
    private let client: DBusClient
    private let discovery: Discovery
    private let pairing: PairingAgent
    /// Whether the adapter could hear something when it was last heard of.
    private let wasReady = Mutex(true)

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
        feed.follow { [weak central] in central?.take($0) }
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
        // Who waits for that board looks again.
        holds = BoardHolds { [watch] path in watch.change { _ in .object(path) } }
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
    /// - Parameter includesConnected: whether a board that somebody on this machine is connected to is handed over as well, though it
    ///   does not advertise.
    /// - Throws: what ails this machine (``BluetoothError/isOfThisMachine``), also where that comes about meanwhile, unless it is over
    ///   within seconds; `cancelled`. Hearing nothing is no error.
    public func discover(
        _ filter: BoardFilter, for time: Duration, includesConnected: Bool = true,
        found: @Sendable (DiscoveredBoard) async -> Bool
    ) async throws(BluetoothError) {
        try await discover(filter, for: time, where: { includesConnected || !$0.isConnected }, found: found)
    }

    func discover(
        _ filter: BoardFilter, for time: Duration, where isWanted: @escaping @Sendable (DiscoveredBoard) -> Bool,
        found: @Sendable (DiscoveredBoard) async -> Bool
    ) async throws(BluetoothError) {
        try await discovery.join()
        let result = await listen(filter, for: time, isWanted, found)
        await discovery.leave()
        try result.get()
    }

    private enum News {
        case boards([DiscoveredBoard])
        case trouble(BluetoothError?)
    }

    private func listen(
        _ filter: BoardFilter, for time: Duration, _ isWanted: @escaping @Sendable (DiscoveredBoard) -> Bool,
        _ found: @Sendable (DiscoveredBoard) async -> Bool
    ) async -> Result<Void, BluetoothError> {
        let end = ContinuousClock.now + time
        var seen: Set<String> = []
        var outage = Outage()
        let adapter = adapter
        let only = filter.path(below: adapter)
        while true {
            let (known, trouble) = (seen, outage.error?.code)
            let left = end - ContinuousClock.now
            do throws(BluetoothError) {
                guard left > .zero else { throw BluetoothError(.timeout, message: "The time is over.") }
                let news = try await watch.wait(
                    forAny: only.map { [$0, adapter] }, within: outage.left(of: left)
                ) { tree, change -> News? in
                    if change == .everything || change == .object(adapter) {
                        let now = AdapterChoice.trouble(with: adapter, in: tree)
                        if now?.code != trouble { return .trouble(now) }
                    }
                    // What is in the tree then was heard before.
                    guard trouble == nil else { return nil }
                    let boards = Self.boards(in: tree, after: change, below: adapter, only: only).filter {
                        !known.contains($0.path) && $0.isPresent && filter.matches($0) && isWanted($0)
                    }
                    return boards.isEmpty ? nil : .boards(boards.sorted(by: DiscoveredBoard.isLouder))
                }
                switch news {
                case .trouble(let error): outage.note(error)
                case .boards(let fresh):
                    for board in fresh {
                        seen.insert(board.path)
                        guard await found(board) else { return .success(()) }
                    }
                }
            } catch {
                guard error.code == .timeout else { return .failure(error) }
                return outage.error.map { .failure($0) } ?? .success(())
            }
        }
    }

    /// Those that a change may have to do with.
    private static func boards(
        in tree: ObjectTree, after change: ObjectTree.Change, below adapter: String, only: String?
    ) -> [DiscoveredBoard] {
        let paths: [String]
        switch (only, change) {
        case (let only?, _): paths = [only]
        case (nil, .object(let path)): paths = path.hasPrefix(adapter + "/dev_") ? [path] : []
        case (nil, _): paths = tree.paths(with: BlueZName.device, below: adapter)
        }
        return paths.compactMap { DiscoveredBoard(path: $0, in: tree) }
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
    func refresh(_ path: String, _ interface: String) async throws(DBusError) {
        let get = DBusCall(BlueZName.service, path, BlueZName.properties, "GetAll", [.string(interface)])
        try await client.call(get, within: .seconds(5)) { [watch] answer in
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
                try await self.client.call(call, within: .seconds(5))
            }
            pairing.allow(device)
            defer { pairing.forbid(device) }
            try await call(device, BlueZName.device, "Pair", within: min(limit, .seconds(30)))
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

    /// Sees to it that whoever looks for boards goes on after BlueZ was restarted, and after the adapter was off or away: BlueZ forgets
    /// who scanned when it switches an adapter off.
    private func take(_ event: BlueZFeed.Event) {
        switch event {
        case .restarted:
            wasReady.withLock { $0 = false }
            Task { [self] in
                try? await Self.load(watch, client, within: .seconds(5))
                await discovery.restart()
            }
        case .changed(let path):
            guard path == adapter else { return }
            let isReady = watch.read { AdapterChoice.trouble(with: path, in: $0) } == nil
            let wasReady = wasReady.withLock { wasReady in
                defer { wasReady = isReady }
                return wasReady
            }
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
            self = AdapterChoice.gone(adapter)
        case (_, "org.freedesktop.DBus.Error.ServiceUnknown"): self = .noBlueZ(error.message)
        case (.disconnected, _): self.init(.noBus, message: "The connection to D-Bus is gone.")
        default:
            self.init(
                .connectionFailed,
                message: "BlueZ could not use the adapter \(AdapterChoice.name(adapter)): \(error.message).")
        }
    }
}
