// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainMaker
import Synchronization

/// What run and cloud say to each other about one mapping, and the copy of it that is kept for a later run.
///
/// The steps that follow the board and those that ask the cloud share it. What is stored is changed by one of them at a time, so that the
/// store has in the end what was said last.
final class MappingConversation: Sendable {
    private struct State {
        var progress: MappingProgress
        /// Keeps other runs away from it.
        var hold: PendingMappingHold?
    }

    private let state: Mutex<State>
    private let storing = AsyncLock()
    private let store: any PendingMappingStore
    let cloud: any NodeMapping
    let time: Timekeeper
    let clock: any WallClock
    let quiet: QuietPeriod
    let logger: Logger

    init(
        about mapping: PendingMapping, hold: PendingMappingHold?, cloud: any NodeMapping,
        store: any PendingMappingStore, time: Timekeeper, clock: any WallClock, quiet: QuietPeriod, logger: Logger
    ) {
        state = Mutex(State(progress: MappingProgress(mapping), hold: hold))
        self.cloud = cloud
        self.store = store
        self.time = time
        self.clock = clock
        self.quiet = quiet
        self.logger = logger
    }

    /// Whether the cloud's confirmation shows that the board is on its network.
    var provesNetwork: Bool { progress.isBySecret && cloud.confirmsReports }

    var progress: MappingProgress { state.withLock { $0.progress } }

    /// What is left for a later run, or for this one when its board answers; nil once the cloud has decided.
    var leftOver: LeftOver? {
        state.withLock { state in state.progress.pending.map { LeftOver(mapping: $0, hold: state.hold) } }
    }

    func update<Result: Sendable>(_ change: @Sendable (inout MappingProgress) -> Result) -> Result {
        state.withLock { change(&$0.progress) }
    }

    /// Changes what is pending, and stores it; nothing where the cloud has decided.
    func keep(_ change: @Sendable (inout PendingMapping) -> Void = { _ in }) async throws(StepFailure) {
        await storing.enter()
        defer { storing.leave() }
        guard let mapping = update({ $0.change(change) }) else { return }
        do throws(RecordStoreError) {
            // The run that had it when the board was associated may have released it.
            if state.withLock({ $0.hold == nil }), let hold = try await store.hold(node: mapping.node) {
                state.withLock { $0.hold = hold }
            }
            try await store.save(mapping)
        } catch {
            throw StepFailure(error)
        }
    }

    /// The cloud has its answer, one way or the other: nothing is left for a later run.
    func settle(confirmed: Bool) async throws(StepFailure) {
        await storing.enter()
        defer { storing.leave() }
        guard let mapping = update({ $0.settle(confirmed: confirmed) }) else { return }
        do throws(RecordStoreError) {
            try await removeOwn(mapping)
        } catch {
            throw StepFailure(error)
        }
        state.withLock { $0.hold = nil }
    }

    /// The run is over, and the cloud has not decided. A secret that a later run cannot use is removed; other runs may have the mapping.
    func end() async {
        await storing.enter()
        defer { storing.leave() }
        if let mapping = progress.pending, mapping.stage == .associated {
            do throws(RecordStoreError) {
                try await removeOwn(mapping)
            } catch {
                logger.debug("a mapping stays in its file", metadata: ["cause": "\(StepFailure(error).message)"])
            }
        }
        state.withLock { $0.hold = nil }
    }

    /// Where another run has associated the same board since, what is stored is that run's.
    private func removeOwn(_ mapping: PendingMapping) async throws(RecordStoreError) {
        guard try await store.all().contains(where: { $0.isSameAssociation(as: mapping) }) else { return }
        try await store.remove(node: mapping.node)
    }
}

extension MappingConversation {
    enum Answer: Sendable {
        /// Nothing is left to do.
        case confirmed
        case notYet
        /// The cloud calls the mapping by a word that is not known, so it does not count as decided.
        case unknown(String)
        /// The cloud gave the request up; only a new one can succeed.
        case ended(MappingStatus)
    }

    /// The user's half of a mapping, sent while the board is still joining. One try: whoever confirms it has the patience.
    ///
    /// - Parameter isOffline: whether this machine has no way to the cloud; then nothing is tried.
    func announce(isOffline: Bool) async {
        guard !isOffline else { return update { $0.hasAnnounced = true } }
        do throws(AccountError) {
            try await tell()
        } catch {
            logger.debug("the mapping will be announced again", metadata: ["cause": "\(error.code)"])
        }
        update { $0.hasAnnounced = true }
    }

    /// Sends the part of the mapping that the cloud does not have yet; nothing where it has everything.
    func tell() async throws(AccountError) {
        guard let mapping = progress.pending else { return }
        switch mapping.proof {
        case .secret(let secret, request: nil):
            let request = try await cloud.addMapping(node: mapping.node, secret: secret, notes: mapping.notes)
            let now = time.elapsed()
            update { $0.announced(secret, as: request, at: now) }
            try await storing { () throws(StepFailure) in try await keep() }
        case .secret: return
        case .signature(let signature, let request):
            try await cloud.verifyChallenge(request, node: mapping.node, signature: signature, notes: mapping.notes)
            try await storing { () throws(StepFailure) in try await settle(confirmed: true) }
        }
    }

    /// Tells the cloud what it has not heard yet, then asks.
    func ask() async throws(AccountError) -> Answer {
        do throws(AccountError) {
            try await tell()
            let answer = try await answer()
            if case .confirmed = answer {
                try await storing { () throws(StepFailure) in try await settle(confirmed: true) }
            }
            return answer
        } catch {
            if let rest = error.retryAfter { quiet.set(until: time.elapsed() + rest) }
            throw error
        }
    }

    /// What the cloud says of the node's connection; nil where it cannot say.
    func connectivity() async throws(AccountError) -> Node.Connectivity? {
        guard let node = progress.node else { return nil }
        do throws(AccountError) {
            return try await cloud.connectivity(of: node)
        } catch {
            if let rest = error.retryAfter { quiet.set(until: time.elapsed() + rest) }
            throw error
        }
    }

    private func answer() async throws(AccountError) -> Answer {
        let progress = progress
        guard let request = progress.request else { return progress.isConfirmed ? .confirmed : .notYet }
        let status = try await cloud.mappingStatus(request)
        switch status {
        case .confirmed: return .confirmed
        case .requested: return .notYet
        case .other(let word): return .unknown(word)
        case .discarded: return .ended(status)
        case .timedOut:
            let now = clock.now
            guard update({ $0.timedOut(at: now) }) else { return .ended(status) }
            try await tell()
            return .notYet
        }
    }

    /// An authoritative no: nothing to keep, unless it is the session that ended and signing in again will do.
    func failure(_ error: AccountError) async throws(StepFailure) -> StepFailure {
        if error.isRefusal { try await settle(confirmed: false) }
        return StepFailure(error)
    }

    /// A store that fails in the middle of a cloud call is reported as the account's failure to keep something.
    private func storing(_ body: () async throws(StepFailure) -> Void) async throws(AccountError) {
        do throws(StepFailure) {
            try await body()
        } catch {
            throw AccountError(.cannotStore, message: error.message)
        }
    }
}

extension MappingStatus {
    /// What to say where the cloud has ended a mapping with this status.
    var endedMessage: String {
        let why =
            self == .timedOut
            ? "the board has not reported for a week" : "the board reported another user or secret"
        return "The cloud did not confirm the mapping: \(why). Run the command again."
    }
}

/// How far one mapping has come: what the cloud knows of it, and what it has still to be told.
struct MappingProgress: Sendable {
    /// What the cloud still has to confirm; nil once it has decided.
    private(set) var pending: PendingMapping?
    private(set) var confirmedNode: NodeID?
    /// When the cloud last heard something new about the board.
    private(set) var lastNews = Duration.zero
    /// The first try to announce the mapping is over, however it ended.
    var hasAnnounced = false

    /// Whether the board itself reports the mapping to the cloud, which it does on its network only. A signature says nothing of Wi-Fi.
    let isBySecret: Bool

    init(_ mapping: PendingMapping) {
        pending = mapping
        isBySecret = if case .secret = mapping.proof { true } else { false }
    }

    var node: NodeID? { confirmedNode ?? pending?.node }
    var isConfirmed: Bool { confirmedNode != nil }
    /// Whether a later run can finish it. A board without Wi-Fi cannot come to the cloud by itself, and is associated anew.
    var isKept: Bool { pending.map { $0.stage != .associated } ?? false }

    /// The cloud's request for a mapping by secret, once it has heard of it.
    var request: RequestID? {
        if case .secret(_, let request)? = pending?.proof { request } else { nil }
    }

    /// Nil where the cloud has decided already.
    mutating func change(_ change: (inout PendingMapping) -> Void) -> PendingMapping? {
        guard var mapping = pending else { return nil }
        change(&mapping)
        pending = mapping
        return mapping
    }

    /// The cloud has the user's half.
    mutating func announced(_ secret: MappingSecret, as request: RequestID, at now: Duration) {
        pending?.proof = .secret(secret, request: request)
        lastNews = now
    }

    /// The cloud waited for the board as long as it does, minutes. A board whose network was away meanwhile still has the secret and
    /// reports it whenever it can; either side may come first, so the cloud is to be told the same one again.
    ///
    /// - Returns: false for a board that has been away for too long.
    mutating func timedOut(at now: UnixTime) -> Bool {
        guard case .secret(let secret, _)? = pending?.proof else { return false }
        let since = pending?.since ?? now
        guard now < since + Patience.absentBoard else { return false }
        pending?.since = since
        pending?.proof = .secret(secret, request: nil)
        return true
    }

    /// The cloud has decided.
    /// - Returns: what was pending; nil where it had decided before.
    mutating func settle(confirmed: Bool) -> PendingMapping? {
        guard let mapping = pending else { return nil }
        if confirmed { confirmedNode = mapping.node }
        pending = nil
        return mapping
    }
}

/// Until when the cloud asked to be left alone. One for all mappings of a run: the cloud is the same.
final class QuietPeriod: Sendable {
    private let end = Mutex(Duration.zero)

    var until: Duration { end.withLock { $0 } }

    func set(until end: Duration) { self.end.withLock { $0 = end } }
}

/// Lets one task in at a time, in the order of their coming. Cancelling a task does not take it out of the queue: what is done inside ends
/// soon, and is to be done in any case.
final class AsyncLock: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken { state.waiting.append(continuation) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state in
            state.isTaken = !state.waiting.isEmpty
            return state.isTaken ? state.waiting.removeFirst() : nil
        }
        next?.resume()
    }
}
