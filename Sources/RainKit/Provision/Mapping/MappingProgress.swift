// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainMaker

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
