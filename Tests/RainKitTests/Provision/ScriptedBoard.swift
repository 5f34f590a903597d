// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainKitTesting
import Synchronization
import RainCore

/// A board that follows a script, and records the calls that it gets.
actor ScriptedBoard: Board {
    enum Watch: Sendable {
        case joins(after: Duration)
        case fails(BoardError.Code)
        case neverEnds
        /// Never ends either, and the error of the cancelled wait includes this text.
        case isSilent(String)
        /// Waits until it is cancelled, however much time passes.
        case hangs
        /// Joins at the moment at which the run is given up.
        case joinsWhenGivenUp
    }

    nonisolated let peer: String
    private let name: NodeID
    private let clock: ManualClock
    private var identity: BoardIdentity
    nonisolated let mapsBySecret: Bool
    private var faults: [String: [BoardError.Code]]
    private var watches: [Watch]
    private var refusesScan = false
    private(set) var calls: [String] = []
    private(set) var secret: MappingSecret?
    private(set) var network: WiFiNetwork?
    /// The claim service's replies to the board.
    private(set) var replies: [[UInt8]] = []

    init(
        _ clock: ManualClock, name: NodeID = NodeID("node-1"), association: AssociationMethod = .userMapping,
        needsClaim: Bool = false, peer: String = "board-under-test",
        watches: [Watch] = [.joins(after: .zero)], faults: [String: [BoardError.Code]] = [:]
    ) {
        self.clock = clock
        self.name = name
        self.peer = peer
        identity = BoardIdentity(association: association, needsClaim: needsClaim, version: "netprov-v1.2")
        mapsBySecret = association == .userMapping
        self.watches = watches
        self.faults = faults
    }

    /// Has its log name its provisioning service.
    func print(serviceName: String) {
        identity.printed = PrintedIdentity()
        identity.printed?.serviceName = serviceName
    }

    /// Makes it refuse to scan, as a board does that is on a network already.
    /// - Parameter nodeID: the node in its log, if it prints one.
    func isOnNetwork(nodeID: NodeID? = nil) {
        refusesScan = true
        identity.nodeID = nodeID
    }

    private func note(_ call: String) throws(BoardError) {
        calls.append(call)
        guard var codes = faults[call], !codes.isEmpty else { return }
        let code = codes.removeFirst()
        faults[call] = codes
        throw BoardError(code, message: "scripted")
    }

    func identify() throws(BoardError) -> BoardIdentity {
        try note("identify")
        return identity
    }

    func secure() throws(BoardError) { try note("secure") }

    func startClaim() throws(BoardError) -> [UInt8] {
        try note("startClaim")
        return Array("introduction".utf8)
    }

    func requestCertificate(_ reply: [UInt8]) throws(BoardError) -> [UInt8] {
        try note("requestCertificate")
        replies.append(reply)
        return Array("request".utf8)
    }

    func storeCertificate(_ reply: [UInt8]) throws(BoardError) {
        try note("storeCertificate")
        replies.append(reply)
    }

    func abortClaim() -> Bool {
        calls.append("abortClaim")
        return true
    }

    func scan() throws(BoardError) -> [AccessPoint] {
        try note("scan")
        if refusesScan {
            var error = BoardError(.rejected, message: "The board is already on a network.")
            error.isOnNetwork = true
            throw error
        }
        return [
            AccessPoint(
                ssid: SSID("Heard"), bssid: [2, 1, 1, 1, 1, 1], channel: 1, rssi: -40,
                protection: NetworkProtection(rawValue: 3))
        ]
    }

    func associate(_ request: AssociationRequest) throws(BoardError) -> AssociationReply {
        try note("associate")
        switch request {
        case .userMapping(_, let secret):
            self.secret = secret
            return AssociationReply(nodeID: name)
        case .challenge(let challenge):
            return AssociationReply(nodeID: name, signature: challenge.reversed())
        }
    }

    func join(_ network: WiFiNetwork) throws(BoardError) {
        try note("join")
        self.network = network
    }

    func watch(
        report: @Sendable (WiFiProgress) async -> Void
    ) async throws(BoardError) -> JoinedNetwork {
        try note("watch")
        await report(.connecting)
        switch watches.isEmpty ? .neverEnds : watches.removeFirst() {
        case .joins(let delay):
            try await pause(delay)
            return JoinedNetwork(address: "192.168.1.20", ssid: SSID("Home"))
        case .hangs:
            let (nothing, end) = AsyncStream.makeStream(of: Never.self)
            for await _ in nothing {}
            end.finish()
            throw BoardError(.cancelled, message: "cancelled")
        case .joinsWhenGivenUp:
            try? await pause(.seconds(100_000))
            return JoinedNetwork(address: "192.168.1.20", ssid: SSID("Home"))
        case .fails(let code):
            throw BoardError(code, message: "scripted")
        case .isSilent(let words):
            do throws(BoardError) {
                try await pause(.seconds(100_000))
            } catch {
                var error = error
                error.unfinished = words
                throw error
            }
            throw BoardError(.deviceLost, message: "scripted")
        case .neverEnds:
            try await pause(.seconds(100_000))
            throw BoardError(.deviceLost, message: "scripted")
        }
    }

    func reset() throws(BoardError) { try note("reset") }
    func close() { calls.append("close") }

    /// The time until which a watch sleeps; nil while it has something to do.
    private nonisolated let watchEnds = Mutex<ManualClock.Instant?>(nil)

    /// Whether the watch does nothing before the clock moves.
    nonisolated var isAsleep: Bool { watchEnds.withLock { $0 }.map(clock.hasSleeper) ?? false }

    private func pause(_ duration: Duration) async throws(BoardError) {
        let end = clock.now.advanced(by: duration)
        watchEnds.withLock { $0 = end }
        defer { watchEnds.withLock { $0 = nil } }
        do {
            try await clock.sleep(until: end)
        } catch {
            throw BoardError(.cancelled, message: "cancelled")
        }
    }
}
