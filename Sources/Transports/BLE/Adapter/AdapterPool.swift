// SPDX-License-Identifier: Apache-2.0

/// Which adapter a board is connected through, if this machine has several. It is a value, so that the policy can be read and tested by
/// itself.
///
/// Nobody reports how many links an adapter can have. It is learned: a refusal while the adapter has N links means N. Such a number is tried
/// out again from time to time, because a link that was just ending may have counted.
///
/// bluetoothd does not report a refusal as such. It answers `Connect` in the same way as after a failure of the radio (5.66,
/// `att_connect_cb` in src/device.c). So many
/// aborted attempts count as a refusal, if the adapter has links, and their number does not change meanwhile.
struct AdapterPool: Sendable {
    /// An adapter that receives the board.
    struct Reception: Sendable, Equatable {
        var adapter: String
        /// In dBm; nil if unknown.
        var signal: Int?
    }

    enum Choice: Sendable, Equatable {
        case take(String)
        /// Every adapter that could be used has all its links in use.
        case full
        /// No adapter that is there receives the board.
        case unheard
    }

    /// The links of an adapter that this process makes or has, and what is known about the adapter.
    private struct Adapter {
        /// The boards' addresses.
        var links: Set<String> = []
        var limit: Int?
        /// Boards that were connected since the limit was last learned or tried out.
        var connectedSince = 0
        /// After how many of these the limit is tried out.
        var trialAfter = AdapterPool.firstTrial
        /// Attempts that were aborted since the number of links last changed, and that number.
        var aborts = 0
        var linksMeanwhile = 0
        /// Connections that failed one after the other.
        var failures = 0
        var restsUntil: ContinuousClock.Instant?
        /// How often it rested since it last worked.
        var rests = 0
        /// The most links at the same time.
        var peak = 0
    }

    static let firstTrial = 16
    static let lastTrial = 512
    /// If a third of all attempts are aborted by chance, so many in a row happen once in 700 times.
    static let abortsBeforeLimit = 6
    /// The same, for one link more than an adapter is known to have.
    static let abortsOfTrial = 3
    /// A single failure may be the board's.
    static let failuresBeforeRest = 2
    static let firstRest = Duration.seconds(2)
    static let longestRest = Duration.seconds(60)
    /// How many boards may begin while no limit is known. More may once so many links were seen to work.
    static let firstBoards = 64

    private var adapters: [String: Adapter] = [:]
    /// The adapters that are there and switched on.
    private(set) var present: [String] = []

    /// Sets the adapters that are there and switched on. What was learned about the others stays, in case they return.
    mutating func update(present: [String]) {
        self.present = present
        for adapter in present where adapters[adapter] == nil { adapters[adapter] = Adapter() }
    }

    /// Chooses the adapter for a board, and reserves a link there, which ends with ``ended(_:board:)``.
    ///
    /// - Parameters:
    ///   - avoided: adapters at which this board's connection has failed; another one is preferred.
    ///   - others: the addresses of all boards that each adapter is connected to, also those of other programs.
    mutating func take(
        _ receptions: [Reception], for board: String, avoiding avoided: Set<String> = [],
        others: [String: Set<String>] = [:], now: ContinuousClock.Instant = .now
    ) -> Choice {
        let usable = receptions.filter { present.contains($0.adapter) }
        guard !usable.isEmpty else { return .unheard }
        let awake = usable.filter { !isResting($0.adapter, now) }
        // One that rests is better than none.
        var candidates = awake.isEmpty ? usable : awake
        let fresh = candidates.filter { !avoided.contains($0.adapter) }
        if !fresh.isEmpty { candidates = fresh }
        let free = candidates.filter { hasRoom($0.adapter, others[$0.adapter] ?? []) }
        let best = free.min { one, other in
            let (first, second) = (used(one.adapter, others), used(other.adapter, others))
            if first != second { return first < second }
            if one.signal != other.signal { return (one.signal ?? .min) > (other.signal ?? .min) }
            return one.adapter < other.adapter
        }
        guard let best else { return .full }
        adapters[best.adapter, default: Adapter()].links.insert(board)
        return .take(best.adapter)
    }

    /// Notes that a board is connected through its adapter.
    mutating func connected(_ adapter: String) {
        change(adapter) {
            ($0.failures, $0.rests, $0.restsUntil) = (0, 0, nil)
            $0.connectedSince += 1
            $0.peak = max($0.peak, $0.links.count)
            guard let limit = $0.limit, $0.connectedSince >= $0.trialAfter else { return }
            ($0.limit, $0.connectedSince) = (limit + 1, 0)
            $0.trialAfter = min($0.trialAfter * 2, Self.lastTrial)
        }
    }

    /// Notes that the adapter had no link left for a board, and ends the board's reservation.
    mutating func refused(
        _ adapter: String, board: String, others: Set<String> = [], now: ContinuousClock.Instant = .now
    ) {
        ended(adapter, board: board)
        let count = (adapters[adapter]?.links ?? []).union(others).subtracting([board]).count
        // An adapter that refuses its first link has another problem.
        guard count > 0 else { return failed(adapter, board: board, now: now) }
        change(adapter) {
            $0.limit = min($0.limit ?? count, count)
            $0.connectedSince = 0
        }
    }

    /// Notes that an attempt was aborted, for an unknown reason. The board's reservation stays.
    ///
    /// - Parameter connected: the addresses of all boards that the adapter is connected to.
    /// - Returns: whether the adapter seems to have no link left. Then ``refused(_:board:others:now:)`` is to be called.
    mutating func aborted(_ adapter: String, board: String, connected: Set<String>) -> Bool {
        let count = connected.subtracting([board]).count
        var isFull = false
        change(adapter) {
            if $0.linksMeanwhile != count { ($0.linksMeanwhile, $0.aborts) = (count, 0) }
            $0.aborts += 1
            // If it has made no link yet, it is not known to work.
            guard count > 0, $0.peak > 0 else { return }
            let isTrial = $0.trialAfter > Self.firstTrial && $0.limit == count + 1
            isFull = $0.aborts >= (isTrial ? Self.abortsOfTrial : Self.abortsBeforeLimit)
            if isFull { $0.limit = min($0.limit ?? count, count) }
        }
        return isFull
    }

    /// Notes that a connection failed, and ends the board's reservation. An adapter at which several boards fail rests.
    ///
    /// - Parameter isCertain: whether the adapter itself reported a problem.
    mutating func failed(
        _ adapter: String, board: String, isCertain: Bool = false, now: ContinuousClock.Instant = .now
    ) {
        ended(adapter, board: board)
        change(adapter) {
            $0.failures += 1
            guard isCertain || $0.failures >= Self.failuresBeforeRest else { return }
            let pause = min(Self.firstRest * (1 << min($0.rests, 6)), Self.longestRest)
            // Boards that fail during a rest began before it.
            if let end = $0.restsUntil, now < end { return }
            $0.restsUntil = now + pause
            $0.rests += 1
        }
    }

    /// Ends a board's link or reservation.
    mutating func ended(_ adapter: String, board: String) { change(adapter) { $0.links.remove(board) } }

    /// How many links an adapter can have; nil if it has not refused one yet.
    func limit(of adapter: String) -> Int? { adapters[adapter]?.limit }

    /// How many boards may be worked on at the same time. Some more than there are links, because a board needs none for its last steps.
    var boards: Int {
        guard !present.isEmpty else { return Self.firstBoards }
        var sum = 0
        for adapter in present {
            let known = adapters[adapter] ?? Adapter()
            guard let limit = known.limit else { return Self.firstBoards + 2 * present.reduce(0) { $0 + peak(of: $1) } }
            sum += limit + max(2, limit / 2)
        }
        return max(1, sum)
    }

    /// Whether any adapter has a link left.
    func hasRoom(_ others: [String: Set<String>]) -> Bool {
        // Without an adapter nobody waits for a link.
        present.isEmpty || present.contains { hasRoom($0, others[$0] ?? []) }
    }

    private func peak(of adapter: String) -> Int { adapters[adapter]?.peak ?? 0 }

    private mutating func change(_ adapter: String, _ body: (inout Adapter) -> Void) {
        body(&adapters[adapter, default: Adapter()])
    }

    private func isResting(_ adapter: String, _ now: ContinuousClock.Instant) -> Bool {
        adapters[adapter]?.restsUntil.map { now < $0 } ?? false
    }

    private func used(_ adapter: String, _ others: [String: Set<String>]) -> Int {
        (adapters[adapter]?.links ?? []).union(others[adapter] ?? []).count
    }

    private func hasRoom(_ adapter: String, _ others: Set<String>) -> Bool {
        guard let limit = adapters[adapter]?.limit else { return true }
        return used(adapter, [adapter: others]) < limit
    }
}
