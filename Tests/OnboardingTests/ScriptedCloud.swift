import Account
import Onboarding
import RainKitTesting
import RainMaker
import Vocabulary

/// A cloud that answers from a script, and writes down what it was told.
actor ScriptedCloud: NodeMapping, NodeClaiming {
    private var faults: [String: [AccountError.Code]]
    private var statuses: [MappingStatus]
    private(set) var calls: [String] = []
    private(set) var secret: MappingSecret?
    private(set) var signature: [UInt8]?
    /// What came with each half of a mapping.
    private(set) var notes: [MappingNotes] = []
    /// What boards said to the claim service.
    private(set) var claimed: [[UInt8]] = []
    private let claimedNode: NodeID
    private let clock: ManualClock?
    private let delay: Duration

    /// - Parameter delay: how long the answer to a question after a mapping takes, on that clock.
    init(
        statuses: [MappingStatus] = [.confirmed], claimedNode: NodeID = NodeID("node-1"),
        faults: [String: [AccountError.Code]] = [:], clock: ManualClock? = nil, delay: Duration = .zero
    ) {
        self.clock = clock
        self.delay = delay
        self.statuses = statuses
        self.claimedNode = claimedNode
        self.faults = faults
    }

    private func note(_ call: String) throws(AccountError) {
        calls.append(call)
        guard var codes = faults[call], !codes.isEmpty else { return }
        let code = codes.removeFirst()
        faults[call] = codes
        throw AccountError(code, message: "scripted")
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
        return statuses.count > 1 ? statuses.removeFirst() : statuses[0]
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
