// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainIO
import RainMaker
import Synchronization

/// The exchange between run and cloud about one mapping, and the copy of the mapping that is stored for a later run.
///
/// The steps that follow the board share it with the steps that ask the cloud. Only one of them at a time changes the stored copy, so the
/// last change is the one that remains.
final class MappingConversation: Sendable {
    private struct State {
        var progress: MappingProgress
        /// Keeps other runs away from the mapping.
        var hold: PendingMappingHold?
    }

    private let state: Mutex<State>
    private let storing = FairLock<Void, Never>()
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

    /// What remains for a later run, or for this one when its board answers; nil once the cloud has decided.
    var leftOver: UnfinishedMapping? {
        state.withLock { state in state.progress.pending.map { UnfinishedMapping(mapping: $0, hold: state.hold) } }
    }

    func update<Result: Sendable>(_ change: @Sendable (inout MappingProgress) -> Result) -> Result {
        state.withLock { change(&$0.progress) }
    }

    /// Changes the pending mapping and stores it. Does nothing if the cloud has decided.
    func keep(_ change: @Sendable (inout PendingMapping) -> Void = { _ in }) async throws(RainKitError) {
        await storing.enter()
        defer { storing.leave() }
        guard let mapping = update({ $0.change(change) }) else { return }
        do throws(RecordStoreError) {
            // The run that held it when the board was associated may have released it.
            if state.withLock({ $0.hold == nil }), let hold = try await store.hold(node: mapping.node) {
                state.withLock { $0.hold = hold }
            }
            try await store.save(mapping)
        } catch {
            throw RainKitError(error)
        }
    }

    /// Ends the mapping once the cloud has confirmed or refused it: nothing remains for a later run.
    func settle(confirmed: Bool) async throws(RainKitError) {
        await storing.enter()
        defer { storing.leave() }
        guard let mapping = update({ $0.settle(confirmed: confirmed) }) else { return }
        do throws(RecordStoreError) {
            try await removeOwn(mapping)
        } catch {
            throw RainKitError(error)
        }
        state.withLock { $0.hold = nil }
    }

    /// Ends the exchange at the end of a run in which the cloud has not decided. Removes a secret that a later run cannot use, and lets
    /// other runs have the mapping.
    func end() async {
        await storing.enter()
        defer { storing.leave() }
        if let mapping = progress.pending, mapping.stage == .associated {
            do throws(RecordStoreError) {
                try await removeOwn(mapping)
            } catch {
                logger.debug("a mapping stays in its file", metadata: ["cause": "\(RainKitError(error).message)"])
            }
        }
        state.withLock { $0.hold = nil }
    }

    /// Removes the stored mapping, unless another run has associated the same board since: then it is that run's.
    private func removeOwn(_ mapping: PendingMapping) async throws(RecordStoreError) {
        guard try await store.all().contains(where: { $0.isSameAssociation(as: mapping) }) else { return }
        try await store.remove(node: mapping.node)
    }
}

extension MappingConversation {
    enum Answer: Sendable {
        /// Nothing remains to be done.
        case confirmed
        case notYet
        /// The cloud calls the mapping by an unknown word, so it does not count as decided.
        case unknown(String)
        /// The cloud has ended the request; only a new one can succeed.
        case ended(MappingStatus)
    }

    /// Sends the user's half of a mapping while the board is still joining. Tries once; the step that confirms the mapping tries again.
    ///
    /// - Parameter isOffline: whether this machine cannot reach the cloud. Then nothing is sent.
    func announce(isOffline: Bool) async {
        guard !isOffline else { return update { $0.hasAnnounced = true } }
        do throws(AccountError) {
            try await tell()
        } catch {
            logger.debug("the mapping will be announced again", metadata: ["cause": "\(error.code)"])
        }
        update { $0.hasAnnounced = true }
    }

    /// Sends the part of the mapping that the cloud does not have yet, if there is one.
    func tell() async throws(AccountError) {
        guard let mapping = progress.pending else { return }
        switch mapping.proof {
        case .secret(let secret, request: nil):
            let request = try await cloud.addMapping(node: mapping.node, secret: secret, notes: mapping.notes)
            let now = time.elapsed()
            update { $0.announced(secret, as: request, at: now) }
            try await storing { () throws(RainKitError) in try await keep() }
        case .secret: return
        case .signature(let signature, let request):
            try await cloud.verifyChallenge(request, node: mapping.node, signature: signature, notes: mapping.notes)
            try await storing { () throws(RainKitError) in try await settle(confirmed: true) }
        }
    }

    /// Sends the cloud what it does not have yet, then asks for the status.
    func ask() async throws(AccountError) -> Answer {
        do throws(AccountError) {
            try await tell()
            let answer = try await answer()
            if case .confirmed = answer {
                try await storing { () throws(RainKitError) in try await settle(confirmed: true) }
            }
            return answer
        } catch {
            if let rest = error.retryAfter { quiet.set(until: time.elapsed() + rest) }
            throw error
        }
    }

    /// Returns the cloud's report of the node's connection; nil if it cannot tell.
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

    /// Makes the error of a failed request. If the cloud refused the mapping for good, it is removed. It is kept if only the session has
    /// ended, since signing in again is enough.
    func failure(_ error: AccountError) async throws(RainKitError) -> RainKitError {
        if error.isRefusal { try await settle(confirmed: false) }
        return RainKitError(error)
    }

    /// Reports a failure of the store during a call to the cloud as an account error.
    private func storing(_ body: () async throws(RainKitError) -> Void) async throws(AccountError) {
        do throws(RainKitError) {
            try await body()
        } catch {
            throw AccountError(.cannotStore, message: error.message)
        }
    }
}

extension MappingStatus {
    /// The message when the cloud has ended a mapping with this status.
    var endedMessage: String {
        let why =
            self == .timedOut
            ? "the board has not reported for a week" : "the board reported another user or secret"
        return "The cloud did not confirm the mapping: \(why). Provision the board again."
    }
}

/// The progress of one mapping: the part that the cloud has, and the part that it still needs.
struct MappingProgress: Sendable {
    /// The mapping that the cloud still has to confirm; nil once it has decided.
    private(set) var pending: PendingMapping?
    private(set) var confirmedNode: NodeID?
    /// When the cloud last received something new about the board.
    private(set) var lastNews = Duration.zero
    /// The first try to announce the mapping is over, successful or not.
    var hasAnnounced = false

    /// Whether the board itself reports the mapping to the cloud. It can do so only from its network; a signature proves nothing about
    /// Wi-Fi.
    let isBySecret: Bool

    init(_ mapping: PendingMapping) {
        pending = mapping
        isBySecret = if case .secret = mapping.proof { true } else { false }
    }

    var node: NodeID? { confirmedNode ?? pending?.node }
    var isConfirmed: Bool { confirmedNode != nil }
    /// Whether a later run can finish it. A board without Wi-Fi cannot report to the cloud, and the later run associates it again.
    var isKept: Bool { pending.map { $0.stage != .associated } ?? false }

    /// The cloud's request for a mapping by secret, once it has received one.
    var request: RequestID? {
        if case .secret(_, let request)? = pending?.proof { request } else { nil }
    }

    /// Returns nil if the cloud has decided already.
    mutating func change(_ change: (inout PendingMapping) -> Void) -> PendingMapping? {
        guard var mapping = pending else { return nil }
        change(&mapping)
        pending = mapping
        return mapping
    }

    /// Notes that the cloud has the user's half.
    mutating func announced(_ secret: MappingSecret, as request: RequestID, at now: Duration) {
        pending?.proof = .secret(secret, request: request)
        lastNews = now
    }

    /// Prepares to send the same secret again after the cloud stopped waiting for the board, which it does after minutes. A board whose
    /// network was away meanwhile still has the secret, and reports it when it can. The cloud accepts either half first.
    ///
    /// - Returns: false for a board that has been away for too long.
    mutating func timedOut(at now: UnixTime) -> Bool {
        guard case .secret(let secret, _)? = pending?.proof else { return false }
        let since = pending?.since ?? now
        guard now < since + WaitLimits.absentBoard else { return false }
        pending?.since = since
        pending?.proof = .secret(secret, request: nil)
        return true
    }

    /// Notes that the cloud has decided.
    /// - Returns: what was pending; nil if it had decided before.
    mutating func settle(confirmed: Bool) -> PendingMapping? {
        guard let mapping = pending else { return nil }
        if confirmed { confirmedNode = mapping.node }
        pending = nil
        return mapping
    }
}

/// The time until which the cloud asked for no requests. All mappings of a run share it, since they use the same cloud.
final class QuietPeriod: Sendable {
    private let end = Mutex(Duration.zero)

    var until: Duration { end.withLock { $0 } }

    func set(until end: Duration) { self.end.withLock { $0 = end } }
}
