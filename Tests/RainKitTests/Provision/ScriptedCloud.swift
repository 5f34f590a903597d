// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainKit
import RainKitTesting
import RainMaker
import Synchronization

/// A cloud that answers from a script, and records the requests that it gets.
actor ScriptedCloud: NodeMapping, NodeClaiming {
    private var faults: [String: [AccountError]]
    private var statuses: [MappingStatus]
    private(set) var calls: [String] = []
    private(set) var secret: MappingSecret?
    private(set) var signature: [UInt8]?
    /// The notes that came with each half of a mapping.
    private(set) var notes: [MappingNotes] = []
    /// The requests of boards to the claim service.
    private(set) var claimed: [[UInt8]] = []
    private let claimedNode: NodeID
    private var connections: [Node.Connectivity]
    private let clock: ManualClock?
    private let delay: Duration
    private nonisolated let decided = Atomic(false)
    /// Whether the cloud has refused. Nobody asks again then before the board has finished its next action.
    nonisolated var hasDecided: Bool { decided.load(ordering: .acquiring) }

    /// - Parameters:
    ///   - faults: how the first calls fail, by name; `errors` are the same as full errors.
    ///   - delay: how long the answer to a question after a mapping takes, on that clock.
    init(
        statuses: [MappingStatus] = [.confirmed], claimedNode: NodeID = NodeID("node-1"),
        faults: [String: [AccountError.Code]] = [:], errors: [String: [AccountError]] = [:],
        connections: [Node.Connectivity] = [], clock: ManualClock? = nil, delay: Duration = .zero
    ) {
        self.connections = connections
        self.clock = clock
        self.delay = delay
        self.statuses = statuses
        self.claimedNode = claimedNode
        self.faults = faults.mapValues { $0.map { AccountError($0, message: "scripted") } }
            .merging(errors) { $0 + $1 }
    }

    private func note(_ call: String) throws(AccountError) {
        calls.append(call)
        guard let error = faults[call]?.first else { return }
        faults[call]?.removeFirst()
        if !error.isTransient { decided.store(true, ordering: .releasing) }
        throw error
    }

    func user() throws(AccountError) -> UserID {
        try note("user")
        return UserID("user-1")
    }

    func addMapping(node: NodeID, secret: MappingSecret, notes: MappingNotes) throws(AccountError) -> RequestID {
        try note("add")
        self.secret = secret
        self.notes.append(notes)
        return RequestID("request-1")
    }

    func mappingStatus(_ request: RequestID) async throws(AccountError) -> MappingStatus {
        try note("status")
        do { try await clock?.sleep(for: delay) } catch { throw AccountError(.cancelled, message: "cancelled") }
        let status = statuses.count > 1 ? statuses.removeFirst() : statuses[0]
        if status == .discarded { decided.store(true, ordering: .releasing) }
        return status
    }

    /// Returns the next report; the last one repeats. Nil for a cloud that cannot tell.
    func connectivity(of node: NodeID) throws(AccountError) -> Node.Connectivity? {
        try note("connectivity")
        return connections.count > 1 ? connections.removeFirst() : connections.first
    }

    func initiateChallenge(lifetime: Duration) throws(AccountError) -> MappingChallenge {
        try note("challenge")
        return MappingChallenge(request: RequestID("request-2"), challenge: [1, 2, 3])
    }

    func initiateClaim(_ board: [UInt8]) throws(AccountError) -> ClaimInvitation {
        try note("initiate")
        claimed.append(board)
        return ClaimInvitation(node: claimedNode, reply: Array("invitation".utf8))
    }

    func verifyClaim(_ request: [UInt8]) throws(AccountError) -> [UInt8] {
        try note("certify")
        claimed.append(request)
        return Array("certificate".utf8)
    }

    func verifyChallenge(
        _ request: RequestID, node: NodeID, signature: [UInt8], notes: MappingNotes
    ) throws(AccountError) {
        try note("verify")
        self.signature = signature
    }
}
