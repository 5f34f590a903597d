// SPDX-License-Identifier: Apache-2.0
import Logging
import RainDBus
import RainIO
import Synchronization

/// This machine's Bluetooth with all its adapters: each board is connected through one that receives it and has a link left.
///
/// With one adapter it is that adapter's ``BluetoothCentral``. With several, ``AdapterPool`` decides, and a board moves to another adapter
/// when one fails. Adapters may come and go.
public final class BluetoothAdapters: Sendable {
    fileprivate struct State {
        var pool = AdapterPool()
        /// The adapters in use, by address, once there were several.
        var members: [String: Task<Result<BluetoothCentral, BluetoothError>, Never>] = [:]
        /// The same, once they are open.
        var open: [String: BluetoothCentral] = [:]
        /// Boards that wait for a link, the first to wait first.
        var waiting: [Waiting] = []
        /// Batches' boards that work, and those that wait to begin.
        var turns = 0
        var queue: [Queued] = []
        var nextID = 0
        var isClosed = false
    }

    fileprivate struct Waiting {
        var id: Int
        var board: String
        var avoided: Set<String>
        var receptions: @Sendable () -> [AdapterPool.Reception]
        var waiter: Waiter<AdapterPool.Choice>
    }

    fileprivate struct Queued {
        var id: Int
        var waiter: Waiter<Bool>
    }

    /// The only adapter; and, if there are several, the one whose connection to BlueZ shows which there are.
    private let scout: BluetoothCentral
    private let wanted: [String]
    private let bus: DBusAddress
    private let logger: Logger
    private let state = Mutex(State())

    /// How often a board is tried at one adapter before it is tried at another.
    private static let attempts = 6
    /// How long one adapter may take with that.
    private static let attemptLimit = Duration.seconds(10)
    /// How often the adapters that are there are looked at again while a board waits.
    private static let recheck = Duration.seconds(1)

    /// Connects to BlueZ. Sends nothing by radio.
    ///
    /// - Parameters:
    ///   - adapters: their names, such as `hci1`, or their addresses; if empty, all that are switched on.
    ///   - bus: the bus with BlueZ; the system bus, which `DBUS_SYSTEM_BUS_ADDRESS` may name.
    /// - Throws: the errors of ``BluetoothCentral/open(adapter:bus:isBlocked:logger:)``.
    public static func open(
        _ adapters: [String] = [], bus: DBusAddress = .system, logger: Logger
    ) async throws(BluetoothError) -> BluetoothAdapters {
        let only = adapters.count == 1 ? adapters.first : nil
        let scout = try await BluetoothCentral.open(adapter: only, bus: bus, logger: logger)
        return BluetoothAdapters(scout, adapters, bus, logger)
    }

    private init(_ scout: BluetoothCentral, _ wanted: [String], _ bus: DBusAddress, _ logger: Logger) {
        (self.scout, self.wanted, self.bus, self.logger) = (scout, wanted, bus, logger)
    }

    /// Closes the connections to the bus; all running operations end with `cancelled`.
    public func close() {
        let (open, waiting, queue) = state.withLock { state in
            state.isClosed = true
            defer { (state.open, state.members, state.waiting, state.queue) = ([:], [:], [], []) }
            return (state.open, state.waiting, state.queue)
        }
        for waiting in waiting { waiting.waiter.resume(returning: .unheard) }
        for queued in queue { queued.waiter.resume(returning: false) }
        for central in open.values { central.close() }
        scout.close()
    }

    // MARK: Adapters

    /// The adapters to use now. With one it is the machine's only one, and has no key.
    private func members(until end: ContinuousClock.Instant) async throws(BluetoothError) -> [Member] {
        guard wanted.count != 1 else { return [Member(key: "", central: scout)] }
        var outage = AdapterLoss()
        while true {
            let listed: [String]
            do {
                listed = try await scout.withAdapter(until: end) { [wanted] (adapter) throws(BluetoothError) in
                    try adapter.watch.read { AdapterChoice.keys(in: $0, wanted: wanted) }.get()
                }
            } catch {
                // As with one adapter: an outage is waited for, if it began while the adapters were in use.
                let isInUse = state.withLock { !$0.members.isEmpty }
                outage.note(error)
                let left = outage.left(of: end - .now)
                guard isInUse, error.isOfThisMachine || error.code == .radioLost, left > .zero else { throw error }
                do { try await Task.sleep(for: min(.milliseconds(250), left)) } catch { throw .cancelled }
                continue
            }
            if listed.count == 1, state.withLock({ $0.members.isEmpty }) { return [Member(key: "", central: scout)] }
            var members: [Member] = []
            var failure: BluetoothError?
            for key in listed {
                do throws(BluetoothError) {
                    members.append(Member(key: key, central: try await member(key)))
                } catch {
                    failure = error
                }
            }
            if members.isEmpty, let failure { throw failure }
            let present = members.map(\.key)
            resume(
                state.withLock { state in
                    state.pool.update(present: present)
                    return state.grants()
                })
            return members
        }
    }

    private struct Member: Sendable {
        /// The adapter's address; empty if it is the only one.
        var key: String
        var central: BluetoothCentral
    }

    private func member(_ key: String) async throws(BluetoothError) -> BluetoothCentral {
        let task = state.withLock { state in
            if let task = state.members[key] { return task }
            let task = Task { [bus, logger] () -> Result<BluetoothCentral, BluetoothError> in
                do throws(BluetoothError) {
                    return .success(
                        try await BluetoothCentral.open(adapter: key, bus: bus, logger: logger, isOneOfSeveral: true))
                } catch {
                    return .failure(error)
                }
            }
            state.members[key] = task
            return task
        }
        let result = await task.value
        let isClosed = state.withLock { state in
            switch result {
            case .success(let central): if !state.isClosed { state.open[key] = central }
            case .failure: if state.members[key] == task { state.members[key] = nil }
            }
            return state.isClosed
        }
        if isClosed, case .success(let central) = result { central.close() }
        guard !isClosed else { throw .cancelled }
        return try result.get()
    }

    // MARK: Links

    /// Reserves a link for a board; waits for one if all are in use, after those that waited before.
    private func take(
        _ board: String, avoiding avoided: Set<String>, until end: ContinuousClock.Instant,
        _ receptions: @escaping @Sendable () -> [AdapterPool.Reception]
    ) async throws(BluetoothError) -> String? {
        let waiter = Waiter<AdapterPool.Choice>()
        let (id, choice, grants) = state.withLock { state -> (Int, AdapterPool.Choice?, [Grant]) in
            state.nextID += 1
            state.waiting.append(
                Waiting(
                    id: state.nextID, board: board, avoided: avoided, receptions: receptions, waiter: waiter))
            let grants = state.grants()
            return (state.nextID, grants.first { $0.id == state.nextID }?.choice, grants)
        }
        resume(grants.filter { $0.id != id })
        var result = choice
        if result == nil {
            logger.debug("all links of the adapters are in use", metadata: ["board": "\(board)"])
            // Adapters that return, and other programs' links that end, wake nobody.
            let rechecks = Task {
                while (try? await Task.sleep(for: Self.recheck)) != nil {
                    self.resume(self.state.withLock { $0.grants() })
                }
            }
            defer { rechecks.cancel() }
            result = await waiter.value(within: max(.zero, end - .now)) { [self] _ in
                let isWaiting = state.withLock { state in
                    let count = state.waiting.count
                    state.waiting.removeAll { $0.id == id }
                    return state.waiting.count < count
                }
                if isWaiting { waiter.resume(returning: .full) }
            }
        }
        if Task.isCancelled || state.withLock({ $0.isClosed }) {
            if case .take(let key) = result { release(key, board) }
            throw .cancelled
        }
        switch result {
        case .take(let key): return key
        case .full: throw .allLinksInUse
        case .unheard, nil: return nil
        }
    }

    fileprivate struct Grant {
        var id: Int
        var choice: AdapterPool.Choice
        var waiter: Waiter<AdapterPool.Choice>
    }

    private func resume(_ grants: [Grant]) { for grant in grants { grant.waiter.resume(returning: grant.choice) } }

    private func release(_ key: String, _ board: String) {
        let grants = state.withLock { state in
            state.pool.ended(key, board: board)
            return state.grants()
        }
        resume(grants)
    }

    private func note(_ change: (inout AdapterPool) -> Void) {
        let (grants, turns) = state.withLock { state in
            change(&state.pool)
            return (state.grants(), state.startTurns())
        }
        resume(grants)
        for turn in turns { turn.resume(returning: true) }
    }

    // MARK: Turns

    /// Waits until a board of a batch may begin. As many work at the same time as the adapters have links, and a few more.
    ///
    /// - Returns: nil if this was closed or cancelled.
    public func turn() async -> BluetoothTurn? {
        let waiter = Waiter<Bool>()
        let id: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            if state.queue.isEmpty, state.turns < state.pool.boards {
                state.turns += 1
                return nil
            }
            state.nextID += 1
            state.queue.append(Queued(id: state.nextID, waiter: waiter))
            return state.nextID
        }
        if let id {
            let mayBegin = await waiter.value(within: .seconds(1 << 30)) { [self] _ in
                let isQueued = state.withLock { state in
                    let count = state.queue.count
                    state.queue.removeAll { $0.id == id }
                    return state.queue.count < count
                }
                if isQueued { waiter.resume(returning: false) }
            }
            guard mayBegin else { return nil }
        }
        return BluetoothTurn { [weak self] in
            guard let self else { return }
            let turns = state.withLock { state in
                state.turns -= 1
                return state.startTurns()
            }
            for turn in turns { turn.resume(returning: true) }
        }
    }
}

/// The right of one board of a batch to use Bluetooth, until this object is dropped.
public final class BluetoothTurn: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
}

extension BluetoothAdapters.State {
    /// Reserves links for the boards that wait, in their order; returns those that have one now.
    fileprivate mutating func grants() -> [BluetoothAdapters.Grant] {
        guard !waiting.isEmpty else { return [] }
        var granted: [BluetoothAdapters.Grant] = []
        var left: [BluetoothAdapters.Waiting] = []
        let others = connected()
        for (position, waiting) in self.waiting.enumerated() {
            guard pool.hasRoom(others) else {
                left += self.waiting[position...]
                break
            }
            let choice = pool.take(waiting.receptions(), for: waiting.board, avoiding: waiting.avoided, others: others)
            if choice == .full {
                left.append(waiting)
            } else {
                granted.append(.init(id: waiting.id, choice: choice, waiter: waiting.waiter))
            }
        }
        self.waiting = left
        return granted
    }

    fileprivate mutating func startTurns() -> [Waiter<Bool>] {
        var started: [Waiter<Bool>] = []
        while !queue.isEmpty, turns < pool.boards {
            turns += 1
            started.append(queue.removeFirst().waiter)
        }
        return started
    }

    /// The addresses of the boards that each adapter is connected to.
    func connected() -> [String: Set<String>] { open.mapValues { $0.adapter.connectedBoards } }
}

extension BluetoothAdapters: LinkMaking {
    func connect(
        _ filter: BoardFilter, within limit: Duration, waiting patience: Duration, isFresh: Bool
    ) async throws(BluetoothError) -> BoardLink {
        let end = ContinuousClock.now + limit
        var members = try await members(until: end)
        if members.count == 1, members[0].key.isEmpty {
            return try await connectAtOnlyAdapter(filter, end, waiting: patience, isFresh)
        }
        var last: BluetoothError?
        var avoided: Set<String> = []
        /// The time for finding and connecting; waiting for a link does not count.
        var left = limit
        while true {
            guard left > .zero else { throw last ?? .allLinksInUse }
            let began = ContinuousClock.now
            let board: DiscoveredBoard
            let heard: [AdapterPool.Reception]
            do throws(BluetoothError) {
                (board, heard) = try await hear(filter, members, until: began + left)
            } catch {
                throw error.code == .notFound ? last ?? error : error
            }
            left -= ContinuousClock.now - began
            let (address, centrals) = (board.address, members)
            let key = try await take(address, avoiding: avoided, until: .now + patience + left) {
                // What was heard is gone from the tree when a scan ends.
                centrals.compactMap { member in
                    member.central.adapter.reception(of: address, member.key)
                        ?? heard.first { $0.adapter == member.key }
                }
            }
            let resumed = ContinuousClock.now
            if let key, let member = members.first(where: { $0.key == key }) {
                do throws(BluetoothError) {
                    let made = try await member.central.connect(
                        .found(board), within: min(left, Self.attemptLimit), isFresh: isFresh, attempts: Self.attempts
                    ) { self.isFull(key, address, member.central) }
                    note { $0.connected(key) }
                    return made.holding(AdapterSlot { [weak self] in self?.release(key, address) })
                } catch {
                    logger.debug(
                        "an adapter could not connect", metadata: ["board": "\(board.label)", "cause": "\(error.code)"])
                    let others = member.central.adapter.connectedBoards
                    note { pool in
                        switch error.code {
                        case .allLinksInUse: pool.refused(key, board: address, others: others)
                        case .connectionFailed: pool.failed(key, board: address)
                        case .noAdapter, .poweredOff, .blocked, .radioLost, .noBlueZ, .scanFailed:
                            pool.failed(key, board: address, isCertain: true)
                        default: pool.ended(key, board: address)
                        }
                    }
                    switch error.code {
                    case .cancelled, .pairingFailed, .accessDenied: throw error
                    case .allLinksInUse: break
                    default: avoided = avoided.count + 1 < members.count ? avoided.union([key]) : []
                    }
                    if error.code != .notFound || last == nil { last = error }
                }
            }
            left -= ContinuousClock.now - resumed
            members = try await self.members(until: .now + max(left, .zero))
        }
    }

    /// Notes an aborted attempt; returns whether the adapter seems to have no link left.
    private func isFull(_ key: String, _ board: String, _ central: BluetoothCentral) -> Bool {
        let connected = central.adapter.connectedBoards
        return state.withLock { $0.pool.aborted(key, board: board, connected: connected) }
    }

    /// Connects as ``BluetoothCentral/connect(_:within:isFresh:)`` does, once the adapter has a link left.
    private func connectAtOnlyAdapter(
        _ filter: BoardFilter, _ end: ContinuousClock.Instant, waiting patience: Duration, _ isFresh: Bool
    ) async throws(BluetoothError) -> BoardLink {
        let token = state.withLock { state in
            state.nextID += 1
            if state.pool.present != [""] { state.pool.update(present: [""]) }
            return "\(filter.label)#\(state.nextID)"
        }
        var pause = Duration.milliseconds(50)
        var wasRefused = false
        while true {
            _ = try await take(token, avoiding: [], until: end + patience) { [.init(adapter: "", signal: nil)] }
            do throws(BluetoothError) {
                let limit = max(end - .now, min(patience, Self.attemptLimit))
                let made = try await scout.connect(filter, within: limit, isFresh: isFresh) {
                    self.isFull("", token, self.scout)
                }
                note { $0.connected("") }
                return made.holding(AdapterSlot { [weak self] in self?.release("", token) })
            } catch {
                let isFull = error.code == .allLinksInUse
                note { isFull ? $0.refused("", board: token) : $0.ended("", board: token) }
                // After a refusal the board is searched for again, and the time may end during that.
                if error.code == .notFound, wasRefused { throw .allLinksInUse }
                let left = end + patience - .now
                guard isFull, left > .zero else { throw error }
                wasRefused = true
                // Another program has the links, so their end is not noticed. The refusal is reported before the caller's own time ends.
                do { try await Task.sleep(for: min(pause, left)) } catch { throw .cancelled }
                guard ContinuousClock.now < end + patience else { throw error }
                pause = min(pause * 2, Self.recheck)
            }
        }
    }

    /// Waits until any adapter receives the board. Returns it with all adapters that receive it at that moment.
    private func hear(
        _ filter: BoardFilter, _ members: [Member], until end: ContinuousClock.Instant
    ) async throws(BluetoothError) -> (DiscoveredBoard, [AdapterPool.Reception]) {
        typealias Heard = (DiscoveredBoard, [AdapterPool.Reception])
        let results = await withTaskGroup(of: Result<Heard, BluetoothError>.self) { group in
            for member in members {
                group.addTask {
                    do throws(BluetoothError) {
                        let board = try await member.central.hear(filter, until: end)
                        let own = AdapterPool.Reception(adapter: member.key, signal: board.rssi)
                        // The others still scan.
                        let others = members.filter { $0.key != member.key }
                            .compactMap { $0.central.adapter.reception(of: board.address, $0.key) }
                        return .success((board, [own] + others))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            var failures: [BluetoothError] = []
            for await result in group {
                switch result {
                case .success:
                    group.cancelAll()
                    return [result]
                case .failure(let error): failures.append(error)
                }
            }
            return failures.map { .failure($0) }
        }
        if Task.isCancelled { throw .cancelled }
        // That no adapter receives the board says more than that one of them has a problem.
        let errors = results.compactMap { if case .failure(let error) = $0 { error } else { nil } }
        if let error = errors.first(where: { $0.code == .notFound }) ?? errors.first { throw error }
        return try results[0].get()
    }
}

/// Searching for boards.
extension BluetoothAdapters {
    /// Scans with all adapters, and reports each matching board once, whichever adapter receives it. Otherwise as
    /// ``BluetoothCentral/discover(_:for:includesConnected:found:)``.
    public func discover(
        _ filter: BoardFilter, for time: Duration, includesConnected: Bool = true,
        found: @Sendable (DiscoveredBoard) async -> Bool
    ) async throws(BluetoothError) {
        let end = ContinuousClock.now + time
        let first = try await members(until: end)
        if first.count == 1, first[0].key.isEmpty {
            return try await scout.discover(filter, for: time, includesConnected: includesConnected, found: found)
        }
        // All searches have ended when this returns.
        try await withoutActuallyEscaping(found) { found in
            await search(filter, first, until: end, includesConnected, HeardBoards(found))
        }.get()
    }

    private func search(
        _ filter: BoardFilter, _ first: [Member], until end: ContinuousClock.Instant, _ includesConnected: Bool,
        _ heard: HeardBoards
    ) async -> Result<Void, BluetoothError> {
        var running: Set<String> = []
        var members = first
        var last: BluetoothError?
        return await withTaskGroup(of: (String?, BluetoothError?).self) { group in
            func watch() {
                group.addTask {
                    _ = try? await Task.sleep(for: Self.recheck); return (nil, nil)
                }
            }
            func begin() {
                for member in members where running.insert(member.key).inserted {
                    group.addTask {
                        do throws(BluetoothError) {
                            try await member.central.discover(
                                filter, for: max(.zero, end - .now), includesConnected: includesConnected
                            ) { await heard.take($0) }
                            return (member.key, nil)
                        } catch {
                            return (member.key, error)
                        }
                    }
                }
            }
            begin()
            watch()
            defer { group.cancelAll() }
            while let (key, error) = await group.next() {
                if Task.isCancelled { return .failure(.cancelled) }
                if await heard.isDone || ContinuousClock.now >= end { return .success(()) }
                if let key {
                    guard let error else { return .success(()) }
                    running.remove(key)
                    last = error
                    if running.isEmpty { return .failure(error) }
                    continue
                }
                // Adapters that were plugged in, or have returned.
                if let now = try? await self.members(until: .now + .milliseconds(1)) { members = now }
                begin()
                watch()
            }
            return .failure(last ?? .cancelled)
        }
    }
}

/// The boards that a search with several adapters has reported.
private actor HeardBoards {
    private var addresses: Set<String> = []
    private(set) var isDone = false
    private let found: @Sendable (DiscoveredBoard) async -> Bool

    init(_ found: @escaping @Sendable (DiscoveredBoard) async -> Bool) { self.found = found }

    /// Returns whether the search goes on.
    func take(_ board: DiscoveredBoard) async -> Bool {
        guard !isDone, addresses.insert(board.address).inserted else { return !isDone }
        if await !found(board) { isDone = true }
        return !isDone
    }
}

/// Makes links to boards: through one adapter, or through any of several.
protocol LinkMaking: Sendable {
    /// Finds the board and connects to it.
    ///
    /// - Parameter patience: how much longer to wait if all links of the adapters are in use.
    func connect(
        _ filter: BoardFilter, within limit: Duration, waiting patience: Duration, isFresh: Bool
    ) async throws(BluetoothError) -> BoardLink
}

extension BluetoothCentral: LinkMaking {
    func connect(
        _ filter: BoardFilter, within limit: Duration, waiting patience: Duration, isFresh: Bool
    ) async throws(BluetoothError) -> BoardLink {
        try await connect(filter, within: limit, isFresh: isFresh)
    }
}

/// A reserved link of an adapter, until this object is released or dropped.
final class AdapterSlot: Sendable {
    private let ending: Mutex<Ending?>

    private struct Ending {
        var call: @Sendable () -> Void
    }

    init(_ end: @escaping @Sendable () -> Void) { ending = Mutex(Ending(call: end)) }

    deinit { release() }

    func release() {
        let ending = ending.withLock { ending in
            defer { ending = nil }
            return ending
        }
        ending?.call()
    }

    /// Releases it once the link has ended, which takes BlueZ two seconds.
    func release(after device: String, at adapter: OpenAdapter) {
        // Ends by itself, within the limit of the wait.
        Task { [self] in
            _ = try? await adapter.watch.wait(for: device, within: OpenAdapter.callLimit) { tree, _ -> Bool? in
                BoardLink.isConnected(device, tree) ? nil : true
            }
            release()
        }
    }
}

extension BluetoothError {
    static let allLinksInUse = BluetoothError(
        .allLinksInUse,
        message:
            "The Bluetooth adapter has no connection left for another board. Wait until another board is done, or add an adapter."
    )
}
