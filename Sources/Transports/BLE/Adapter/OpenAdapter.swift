// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommCore
import RainDBus
import Synchronization

/// One adapter of BlueZ over one connection to the bus: the boards that it receives, and the links through it.
///
/// It cannot be used again after that connection is lost, or the adapter has another name. All waits then end with `radioLost`, and
/// ``BluetoothCentral`` opens another one. It survives a restart of BlueZ, and an adapter that is off or unplugged for a while.
final class OpenAdapter: Sendable {
    let watch: ObjectWatch
    let logger: Logger
    let chosen: ChosenAdapter
    /// The boards that this process's transports use.
    let holds: ConnectionOwnership
    let discovery: Discovery
    let opened = ContinuousClock.now
    private let patience: Duration
    private let bus: BlueZCalls
    let pairing: PairingAgent
    /// Whether the adapter could receive at BlueZ's last signal.
    private let wasReady = Mutex(true)

    /// The time limit for opening: short, so that a missing adapter is reported quickly.
    static let openingLimit = Duration.milliseconds(1800)

    /// The time limit for BlueZ's immediate answers: those that do not wait for the radio.
    static let callLimit = Duration.seconds(5)

    /// The adapter's path, `/org/bluez/hci0`.
    var path: String { chosen.path }

    /// The requested adapter.
    struct Request: Sendable {
        /// `hci1` or an adapter's address; nil for the first that is switched on.
        var adapter: String?
        var bus: DBusAddress
        var isBlocked: @Sendable () -> Bool
        /// How long to wait for the adapter if it is off or gone.
        var patience = AdapterLoss.patience
    }

    /// Connects to BlueZ and chooses an adapter. Sends nothing by radio.
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
        let adapter = OpenAdapter(bus, chosen, pairing: feed.pairing, patience: request.patience, logger: logger)
        feed.follow { [weak adapter] in adapter?.take($0) }
        logger.debug("bluetooth adapter", metadata: ["adapter": "\(chosen.path)"])
        return adapter
    }

    private init(
        _ bus: BlueZCalls, _ chosen: ChosenAdapter, pairing: PairingAgent, patience: Duration, logger: Logger
    ) {
        self.patience = patience
        self.bus = bus
        self.chosen = chosen
        self.pairing = pairing
        self.logger = logger
        let (watch, path) = (bus.watch, chosen.path)
        self.watch = watch
        // Tasks that wait for that board check again.
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

    /// Closes the connection to the bus; all running operations end with `cancelled`.
    func close() {
        watch.end(.cancelled)
        bus.client.close()
    }

    /// Ends this value if its adapter is gone and any other will do, so that another one is opened.
    func endIfReplaceable() {
        if watch.read({ chosen.isReplaceable(in: $0) }) { watch.end(.adapterMoved(path)) }
    }

    // MARK: for links

    /// Calls one of BlueZ's objects.
    @discardableResult
    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = [], within limit: Duration
    ) async throws(DBusError) -> [DBusValue] {
        try await bus.call(DBusCall(BlueZName.service, path, interface, member, arguments), within: limit)
    }

    /// Sends a call to one of BlueZ's objects, whose answer is waited for later. Pass its error to ``note(_:)``.
    func begin(
        _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue], within limit: Duration
    ) throws(DBusError) -> DBusClient.OpenCall {
        try bus.client.begin(DBusCall(BlueZName.service, path, interface, member, arguments), within: limit)
    }

    /// Ends this value if the error says that the bus is gone.
    func note(_ error: DBusError) { bus.note(error) }

    /// Sends calls that have no answer, and returns when the bus has received them.
    func sendWithoutReply(_ calls: [DBusCall]) async {
        for call in calls { await bus.client.post(call) }
        // The bus handles messages in their order.
        _ = try? await bus.call(.bus("GetId"), within: .seconds(2))
    }

    /// Reads an object's properties again, because a signal about them may have been missed.
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

    // MARK: BlueZ's signals

    /// Lets searches for boards continue after BlueZ was restarted, and after the adapter was off or absent: BlueZ forgets its scanning
    /// clients when it switches an adapter off.
    private func take(_ event: BlueZFeed.Event) {
        switch event {
        case .restarted:
            wasReady.withLock { $0 = false }
            // Ends by itself, within the limits of its calls; nobody waits for it.
            Task { [self] in
                do { try await bus.load(within: Self.callLimit) } catch {
                    // Without this, the objects would never be read. If BlueZ has left again, its return causes another signal.
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

/// Receiving boards, in the scan that all searches share.
extension OpenAdapter {
    /// Scans, and reports each wanted board as soon as it is received.
    ///
    /// - Parameters:
    ///   - heard: the addresses of boards that were already reported; those reported now are added.
    ///   - others: gets the boards in range that do not match, if none did.
    func discover(
        _ filter: BoardFilter, until end: ContinuousClock.Instant, except heard: inout Set<String>,
        where isWanted: @escaping @Sendable (DiscoveredBoard) -> Bool, others: NearbyBoards? = nil,
        found: @Sendable (DiscoveredBoard) async -> Bool
    ) async throws(BluetoothError) {
        try await discovery.join()
        let result = await listen(filter, until: end, &heard, isWanted, found)
        if let others, heard.isEmpty {
            // Before the scan ends, because BlueZ then forgets the boards' signals.
            let adapter = path
            others.note(watch.read { $0.boards(below: adapter) }.filter { $0.isPresent && !filter.matches($0) })
        }
        await discovery.leave()
        try result.get()
    }

    private enum News {
        case boards([DiscoveredBoard])
        case trouble(BluetoothError?)
    }

    private func listen(
        _ filter: BoardFilter, until end: ContinuousClock.Instant, _ heard: inout Set<String>,
        _ isWanted: @escaping @Sendable (DiscoveredBoard) -> Bool, _ found: @Sendable (DiscoveredBoard) async -> Bool
    ) async -> Result<Void, BluetoothError> {
        var outage = AdapterLoss(patience: patience)
        let (chosen, adapter) = (chosen, path)
        let only = filter.path(below: adapter)
        let subjects: [ObjectWatch.Subject]? =
            (only.map { .object($0) } ?? filter.name.map { .board(named: $0.asciiLowercased) }).map {
                [$0, .object(adapter)]
            }
        while true {
            let (known, trouble) = (heard, outage.error?.code)
            let left = end - ContinuousClock.now
            do throws(BluetoothError) {
                guard left > .zero else { throw BluetoothError(.timeout, message: "The time is over.") }
                let news = try await watch.wait(
                    forAny: subjects, within: outage.left(of: left)
                ) { tree, change -> News? in
                    if change == .everything || change == .object(adapter) {
                        let now = chosen.trouble(in: tree) ?? tree.scanTrouble
                        if now?.code != trouble { return .trouble(now) }
                    }
                    // The boards in the tree were then received before.
                    guard trouble == nil else { return nil }
                    let boards = Self.boards(in: tree, after: change, below: adapter, only, filter.name).filter {
                        board in
                        board.isPresent && !known.contains(board.address) && filter.matches(board) && isWanted(board)
                    }
                    return boards.isEmpty ? nil : .boards(boards.sorted(by: DiscoveredBoard.isLouder))
                }
                switch news {
                case .trouble(let error): outage.note(error)
                case .boards(let fresh):
                    for board in fresh {
                        heard.insert(board.address)
                        guard await found(board) else { return .success(()) }
                    }
                }
            } catch {
                guard error.code == .timeout else { return .failure(error) }
                return outage.error.map { .failure($0) } ?? .success(())
            }
        }
    }

    /// Returns the boards that a change may be about.
    private static func boards(
        in tree: ObjectTree, after change: ObjectTree.Change, below adapter: String, _ only: String?, _ name: String?
    ) -> [DiscoveredBoard] {
        switch (only, change) {
        case (let only?, _): [tree.boards[only]].compactMap { $0 }
        case (nil, .object(let path)): path.hasPrefix(adapter + "/dev_") ? [tree.boards[path]].compactMap { $0 } : []
        case (nil, _): name.map { tree.boards(named: $0, below: adapter) } ?? tree.boards(below: adapter)
        }
    }
}

/// Connecting to a board by its name, including its endpoints.
extension OpenAdapter {
    /// The time limit for reading one endpoint's name.
    private static let nameLimit = Duration.seconds(10)

    /// Finds the board and connects to it. Repeats this while attempts are aborted or the board disappears.
    ///
    /// - Parameters:
    ///   - filter: the board; if several match, the first that is received.
    ///   - limit: for all attempts together; the last one may take a few seconds more to end.
    ///   - isFresh: makes BlueZ first forget its data about the board. That also happens, once, if a connection lacks the endpoints of a
    ///     board.
    ///   - isFull: called after each attempt that BlueZ has aborted; returns whether the adapter seems to have no link left.
    /// - Throws: `notFound`, `connectionFailed`, `allLinksInUse`, a problem with this machine's Bluetooth, `radioLost` if this adapter can
    ///   no longer be used, `cancelled`.
    func connect(
        _ filter: BoardFilter, within limit: Duration, isFresh: Bool = false,
        attempts: Int = RetryBudget.maximumAttempts, isFull: @Sendable () -> Bool = { false }
    ) async throws(BluetoothError) -> BoardLink {
        var tried: String?
        do {
            return try await keepTrying(filter, within: limit, isFresh: isFresh, attempts, isFull, &tried)
        } catch {
            // An attempt that was cancelled is still ending.
            if let tried, error.code != .cancelled { await leave(tried, isOurs: false) }
            if let tried { await forbidPairing(tried) }
            throw error
        }
    }

    private func keepTrying(
        _ filter: BoardFilter, within limit: Duration, isFresh: Bool, _ maximum: Int, _ isFull: @Sendable () -> Bool,
        _ tried: inout String?
    ) async throws(BluetoothError) -> BoardLink {
        var attempts = ConnectAttempts(within: limit, hasForgotten: isFresh, maximum: maximum, patience: patience)
        if isFresh {
            let known = try await find(filter, until: attempts.end)
            await forget(known.board.path)
            known.hold.release()
        }
        var candidate: Candidate?
        while true {
            let target: Candidate
            if let candidate {
                target = candidate
            } else {
                do { target = try await find(filter, until: attempts.end) } catch { throw attempts.unfound(error) }
            }
            candidate = nil
            tried = target.board.path
            let next: ConnectAttempts.Next
            do {
                return try await attempt(target, until: attempts.end)
            } catch {
                logger.debug(
                    "connection failed",
                    metadata: [
                        "board": "\(target.board.label)", "attempt": .stringConvertible(attempts.number),
                        "adapter": "\(AdapterChoice.name(path))", "cause": "\(error)",
                    ])
                if case .failed(.again, let cause) = error, cause.code == .remote, isFull() { throw .allLinksInUse }
                let isBonded = watch.read { $0.isBonded(target.board.path) }
                next = try attempts.failed(error, board: target.board.label, isBonded: isBonded)
            }
            switch next {
            case .sameBoard(let pause):
                candidate = target
                try await rest(pause)
            case .listenAgain(let pause): try await rest(pause)
            case .forget: await forget(target.board.path)
            }
        }
    }

    private func rest(_ pause: Duration) async throws(BluetoothError) {
        guard pause > .zero else { return }
        do { try await Task.sleep(for: pause) } catch { throw .cancelled }
    }

    /// A board that only this transport may use.
    private struct Candidate {
        var board: DiscoveredBoard
        var hold: BoardHold
    }

    // MARK: finding

    /// Waits until a board is received that no transport of this process uses.
    ///
    /// A board that this machine is already connected to is chosen only if it was named. It is unknown whether another program uses it or
    /// left the connection behind (the official client does after a failure). That connection is ended, since its session is not ours.
    private func find(
        _ filter: BoardFilter, until end: ContinuousClock.Instant
    ) async throws(BluetoothError) -> Candidate {
        let others = filter.namesBoard ? NearbyBoards() : nil
        while true {
            guard let board = try await firstHeard(filter, until: end, others) else {
                throw nothingHeard(filter, others?.waiting ?? [])
            }
            // Another transport of this process may have been faster.
            guard let hold = holds.take(board.path, isConnected: board.isConnected) else { continue }
            guard board.isConnected else { return Candidate(board: board, hold: hold) }
            logger.debug("ending another program's connection", metadata: ["board": "\(board.label)"])
            await disconnect(board.path)
            hold.release()
        }
    }

    /// Waits until a board is received that no transport uses, without taking it.
    func hear(
        _ filter: BoardFilter, until end: ContinuousClock.Instant
    ) async throws(BluetoothError) -> DiscoveredBoard {
        let others = filter.namesBoard ? NearbyBoards() : nil
        if let board = try await firstHeard(filter, until: end, others) { return board }
        throw nothingHeard(filter, others?.waiting ?? [])
    }

    /// How well this adapter receives a board at the moment; nil if it does not.
    func reception(of address: String, _ adapter: String) -> AdapterPool.Reception? {
        guard let path = BoardFilter.address(address).path(below: path) else { return nil }
        let board = watch.read { tree in
            chosen.trouble(in: tree) == nil && tree.scanTrouble == nil ? tree.boards[path] : nil
        }
        guard let board, board.isPresent else { return nil }
        return AdapterPool.Reception(adapter: adapter, signal: board.rssi)
    }

    /// The addresses of the boards that any program of this machine is connected to through this adapter.
    var connectedBoards: Set<String> {
        let adapter = path
        return watch.read { tree in Set(tree.boards(below: adapter).filter(\.isConnected).map(\.address)) }
    }

    /// How long to wait for a known board under its address, before another one with its name is accepted for it.
    private static let addressLimit = Duration.seconds(4)

    private func firstHeard(
        _ filter: BoardFilter, until end: ContinuousClock.Instant, _ others: NearbyBoards?
    ) async throws(BluetoothError) -> DiscoveredBoard? {
        guard let renewed = filter.underAnotherAddress else { return try await hear(filter, until: end, others) }
        if let board = try await hear(filter, until: min(end, .now + Self.addressLimit), others) { return board }
        return try await hear(renewed, until: end, others)
    }

    private func hear(
        _ filter: BoardFilter, until end: ContinuousClock.Instant, _ others: NearbyBoards?
    ) async throws(BluetoothError) -> DiscoveredBoard? {
        let heard = FirstHeard()
        let (holds, mayBeConnected) = (holds, filter.isUnique)
        var heardBefore: Set<String> = []
        try await discover(
            filter, until: end, except: &heardBefore,
            where: { board in
                (mayBeConnected || !board.isConnected) && holds.isFree(board.path, isConnected: board.isConnected)
            }, others: others
        ) { board in
            await heard.take(board)
            return false
        }
        return await heard.board
    }

    /// - Parameter waiting: other boards in range, the strongest first.
    private func nothingHeard(_ filter: BoardFilter, _ waiting: [DiscoveredBoard]) -> BluetoothError {
        let adapter = path
        let occupied = watch.read { tree in
            tree.boards(below: adapter).first { $0.isConnected && filter.matches($0) }
        }
        guard let occupied else {
            let names = waiting.compactMap(\.name).prefix(3)
            if !names.isEmpty {
                return BluetoothError(
                    .notFound,
                    message:
                        "No Bluetooth board \(filter.label) was found; in range: \(names.joined(separator: ", ")). Check the name, and "
                        + "that the board is powered, near, and in provisioning mode."
                )
            }
            if let nameless = waiting.first {
                return BluetoothError(
                    .notFound,
                    message:
                        "No Bluetooth board \(filter.label) was found, but there is one that does not send its name "
                        + "(\(nameless.address)). If this is the right board, use its address instead of the name.")
            }
            return BluetoothError(
                .notFound,
                message:
                    "No Bluetooth board \(filter.isUnique ? filter.label + " " : "")was found. Check that the board is "
                    + "powered, near, and in provisioning mode.")
        }
        guard filter.isUnique else {
            return BluetoothError(
                .notFound,
                message:
                    "The only Bluetooth board found is \(occupied.label), which another program on this machine uses. To use that board "
                    + "anyway, choose it by its name."
            )
        }
        return BluetoothError(
            .connectionFailed,
            message:
                "\(occupied.label) is already in use by this program. Wait until the other use has ended, or open both with the same "
                + "transport."
        )
    }

    // MARK: one attempt

    private func attempt(
        _ target: Candidate, until end: ContinuousClock.Instant
    ) async throws(AttemptError) -> BoardLink {
        let board = target.board
        let device = board.path
        watch.change { tree in
            tree.adopt(device)
            return .nothing
        }
        await allowPairing(device)
        do throws(DBusError) {
            try await call(device, BlueZName.device, "Connect", within: ConnectShare.connect(of: end - .now))
        } catch {
            // Otherwise BlueZ continues to connect, and refuses the next attempt.
            if error.code == .timeout { await release(device) }
            if error.code == .cancelled { await letGo(device) }
            if error.name != BlueZErrorName.alreadyConnected {
                throw .failed(ConnectFailure(error, adapter: path), error)
            }
        }
        do throws(AttemptError) {
            try await resolve(device, until: .now + ConnectShare.resolve(of: end - .now))
            // bluetoothd 5.66 may report that the services are known before it announces them, which is before its next answer at the latest
            // (`g_dbus_flush` in gdbus/object.c).
            if watch.read({ EndpointMap.characteristics(of: device, in: $0).isEmpty }) {
                _ = try? await refresh(device, BlueZName.device)
            }
            let map = try await endpoints(of: device, until: end)
            guard map.isComplete else { throw .stale }
            let mtu = watch.read { tree in
                map[.session].flatMap { tree[$0, BlueZName.characteristic]?["MTU"]?.integer }
            }
            logger.debug(
                "connected",
                metadata: ["board": "\(board.label)", "mtu": mtu.map { .stringConvertible($0) } ?? "unknown"])
            target.hold.connected()
            return BoardLink(adapter: self, board: board, hold: target.hold, endpoints: map, mtu: mtu)
        } catch {
            // After a cancellation nobody waits for the end of a link.
            if error.isCancellation { await letGo(device) } else { await release(device) }
            throw error
        }
    }

    /// Waits for the services. It does not rely on signals alone: the first connection after BlueZ started often gets none, so the
    /// properties are also read.
    private func resolve(_ device: String, until end: ContinuousClock.Instant) async throws(AttemptError) {
        var pause = Duration.milliseconds(250)
        while true {
            do throws(DBusError) {
                try await refresh(device, BlueZName.device, within: min(end - .now, Self.callLimit))
            } catch {
                switch error.code {
                case .cancelled: throw .other(.cancelled)
                case .remote: throw .lost
                default: throw .failed(ConnectFailure(error, adapter: path), error)
                }
            }
            let isUp: Bool
            do {
                isUp = try await watch.wait(for: device, within: min(pause, end - ContinuousClock.now)) {
                    tree, _ -> Bool? in
                    guard BoardLink.isConnected(device, tree) else { return false }
                    return tree[device, BlueZName.device]?["ServicesResolved"]?.boolean == true ? true : nil
                }
            } catch {
                guard error.code == .timeout else { throw .other(error) }
                guard ContinuousClock.now < end else {
                    throw .failed(.again, DBusError(.timeout, message: "its services were not found"))
                }
                pause = min(pause * 2, .seconds(2))
                continue
            }
            guard isUp else { throw .lost }
            return
        }
    }

    /// Reads the names of all endpoints.
    private func endpoints(
        of device: String, until end: ContinuousClock.Instant
    ) async throws(AttemptError) -> EndpointMap {
        let characteristics = watch.read { EndpointMap.characteristics(of: device, in: $0) }
        var map = EndpointMap()
        for characteristic in characteristics {
            map.add(characteristic, name: try await name(characteristic, of: device, until: end))
        }
        return map
    }

    /// Returns nil if the board has no name for the attribute, or refuses to send it. A late answer says nothing about the endpoints:
    /// another connection may be better.
    private func name(
        _ characteristic: EndpointMap.Characteristic, of device: String, until end: ContinuousClock.Instant
    ) async throws(AttemptError) -> [UInt8]? {
        guard let path = characteristic.description else { return nil }
        do throws(GATTOperation.Failure) {
            var question = GATTOperation.read(path, BlueZName.descriptor, of: device)
            question.doubtsRefusals = false
            let answer = try await question.run(through: self, until: min(end, .now + Self.nameLimit))
            return answer.first?.byteArray
        } catch {
            switch error {
            case .notPaired(let error): throw .other(error)
            case .failed(.cancelled, _): throw .other(.cancelled)
            case .failed(.linkLost, _), .failed(.timeout, _), .failed(.busy, _): throw .lost
            // The board refuses to send it, or sends an invalid answer.
            case .failed: return nil
            }
        }
    }
}

/// The boards in range at the end of a search by name that found nothing.
final class NearbyBoards: Sendable {
    private let boards = Mutex<[String: DiscoveredBoard]>([:])

    func note(_ heard: [DiscoveredBoard]) {
        boards.withLock { boards in
            for board in heard where BoardFilter.anyBoard.matches(board) { boards[board.address] = board }
        }
    }

    /// The boards that wait to be provisioned, the strongest first. Some send no name.
    var waiting: [DiscoveredBoard] { boards.withLock { $0.values.sorted(by: DiscoveredBoard.isLouder) } }
}

private actor FirstHeard {
    private(set) var board: DiscoveredBoard?
    func take(_ board: DiscoveredBoard) { self.board = board }
}

/// Boards that require an encrypted link.
extension OpenAdapter {
    /// The time limit for BlueZ's calls about an agent, which most boards do not need.
    private static let agentLimit = Duration.seconds(2)

    /// Lets BlueZ pair with a board before the connection. Boards that require no encryption work without it.
    func allowPairing(_ device: String) async {
        do {
            try await pairing.allow(device, or: otherEnd(of: device)) { (call) async throws(DBusError) in
                try await self.agentCall(call)
            }
        } catch {
            logger.debug("no agent for pairing", metadata: ["cause": "\(error)"])
        }
    }

    func forbidPairing(_ device: String) async {
        await pairing.forbid(device) { (call) async throws(DBusError) in try await self.agentCall(call) }
    }

    private func agentCall(_ call: DBusCall) async throws(DBusError) {
        try await self.call(call.path, call.interface, call.member, call.arguments, within: Self.agentLimit)
    }

    /// Returns the devices of the link's other end. If another adapter of this machine acts as the board, BlueZ asks the same agent for the
    /// board's side. The device then has this adapter's address, at the adapter with the board's address.
    private func otherEnd(of device: String) -> Set<String> {
        let adapter = path
        return watch.read { tree in
            guard let board = tree[device, BlueZName.device]?["Address"]?.text,
                let own = tree[adapter, BlueZName.adapter]?["Address"]?.text,
                let other = tree.paths(with: BlueZName.adapter, below: BlueZName.root).first(where: {
                    tree[$0, BlueZName.adapter]?["Address"]?.text == board
                }), let path = BoardFilter.address(own).path(below: other)
            else { return [] }
            return [path]
        }
    }

    /// Pairs by Just Works, the only method of boards; for versions of BlueZ that leave pairing to their client.
    func pair(_ device: String, within limit: Duration) async throws(BluetoothError) {
        await allowPairing(device)
        do {
            try await call(device, BlueZName.device, "Pair", within: min(limit, .seconds(30)))
        } catch {
            if error.name == BlueZErrorName.alreadyExists { return }
            if error.code == .cancelled { throw .cancelled }
            if error.code == .disconnected { throw .busLost }
            throw BluetoothError(
                .pairingFailed,
                message: "The board requires an encrypted link, and pairing failed (\(error.message)). Remove old "
                    + "pairings with `bluetoothctl remove`, restart the board, and try again.")
        }
    }
}

/// Ending a connection, and removing BlueZ's data about it.
extension OpenAdapter {
    /// Ends the connection, and waits until it has ended: BlueZ keeps it for two seconds.
    func disconnect(_ device: String) async {
        guard (try? await call(device, BlueZName.device, "Disconnect", within: Self.callLimit)) != nil else { return }
        _ = try? await watch.wait(for: device, within: Self.callLimit) { tree, _ -> Bool? in
            BoardLink.isConnected(device, tree) ? nil : true
        }
    }

    /// Does the same for a caller that may have been cancelled, so that the board does not stay occupied.
    func release(_ device: String) async {
        await Task { await disconnect(device) }.value
    }

    /// Makes BlueZ end the connection, and returns when the bus has received the message: the two seconds are BlueZ's own.
    func letGo(_ device: String) async {
        await Task {
            await sendWithoutReply([DBusCall(BlueZName.service, device, BlueZName.device, "Disconnect")])
        }.value
    }

    /// Does the same at the end of a transport. BlueZ then also forgets a board that it did not know before. Otherwise every board that was
    /// ever provisioned would stay in its tree and on its disk, with attributes that another firmware may not have.
    ///
    /// BlueZ does both in order and by itself: it forgets a device once the link has ended (`remove_device` in src/adapter.c). A board that
    /// still advertises appears again.
    ///
    /// - Parameter isOurs: whether the link exists and is the caller's. Another program's link is not ended, and its board is not
    ///   forgotten.
    func leave(_ device: String, isOurs: Bool) async {
        let isFree = isOurs || holds.isFree(device, isConnected: false)
        let mayForget = watch.read { tree in
            tree.isDispensable(device) && (isOurs || isFree && !BoardLink.isConnected(device, tree))
        }
        var calls = isOurs ? [DBusCall(BlueZName.service, device, BlueZName.device, "Disconnect")] : []
        if mayForget {
            logger.debug("BlueZ is to forget the board", metadata: ["device": "\(device)"])
            calls.append(
                DBusCall(BlueZName.service, path, BlueZName.adapter, "RemoveDevice", [.objectPath(device)]))
        }
        await Task { [calls] in
            if !calls.isEmpty { await sendWithoutReply(calls) }
            await forbidPairing(device)
        }.value
    }

    /// Makes BlueZ forget its data about a board, especially its attributes.
    func forget(_ device: String) async {
        logger.debug("BlueZ is to forget its data about the board", metadata: ["device": "\(device)"])
        _ = try? await call(path, BlueZName.adapter, "RemoveDevice", [.objectPath(device)], within: Self.callLimit)
        _ = try? await watch.wait(for: device, within: .seconds(2)) { tree, _ -> Bool? in
            tree[device, BlueZName.device] == nil ? true : nil
        }
    }
}
