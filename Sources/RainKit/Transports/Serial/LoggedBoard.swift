// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainIO

/// A board whose log is heard: it is reached another way than by the cable, or by the console that the log comes from.
///
/// What the log says completes what the board answers: a crash is the reason why it fell silent, and an address is a board that has joined
/// its network, whatever became of the answer that says so.
actor LoggedBoard: Board {
    nonisolated let peer: String
    private let inner: any Board
    /// Where it is reached, if that is not where its log comes from.
    private let address: String?
    private let log: DeviceLog
    /// Reads the log, where nobody else reads the port.
    private let reading: Task<Void, Never>?
    /// What it was asked to join, and whether the log told of an address before that.
    private var asked: (network: WiFiNetwork, earlier: String?)?

    /// A board behind a console, which reads the port.
    init(_ inner: any Board, log: DeviceLog) {
        self.inner = inner
        self.log = log
        address = nil
        peer = inner.peer
        reading = nil
    }

    /// A board that is reached at another address.
    init(
        _ inner: any Board, at address: BoardAddress, log: DeviceLog, port: PortOpening.OpenPort, ports: PortOpening
    ) {
        self.inner = inner
        self.address = "\(address)"
        self.log = log
        peer = inner.peer
        // Handed to the log by the port itself.
        reading = Task {
            var open: PortOpening.OpenPort? = port
            while let current = open {
                while (try? await current.port.read()) != nil {}
                await current.port.close()
                open = current.port.isGone ? try? await ports.reopen(current.description, heard: { log.take($0) }) : nil
            }
        }
    }

    var isOffline: Bool { get async { await inner.isOffline } }

    func identify() async throws(ProvisioningError) -> BoardIdentity {
        var identity = try await told { () async throws(ProvisioningError) in try await inner.identify() }
        if let address { identity.reachedAt = address }
        identity.nodeID = identity.nodeID ?? log.moment.summary.nodeID
        return identity
    }

    func secure() async throws(ProvisioningError) {
        try await told { () async throws(ProvisioningError) in try await inner.secure() }
    }
    func scan() async throws(ProvisioningError) -> [AccessPoint] {
        try await told { () async throws(ProvisioningError) in try await inner.scan() }
    }
    func join(_ network: WiFiNetwork) async throws(ProvisioningError) {
        asked = (network, log.moment.summary.address)
        try await told { () async throws(ProvisioningError) in try await inner.join(network) }
    }
    func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) {
        asked = (network, log.moment.summary.address)
        try await told { () async throws(ProvisioningError) in try await inner.join(network, report: report) }
    }

    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(ProvisioningError) -> JoinedNetwork {
        do throws(ProvisioningError) {
            return try await told { () async throws(ProvisioningError) in try await inner.watch(report: report) }
        } catch {
            guard [.deviceLost, .neverAnswered].contains(error.code), let asked, asked.earlier == nil,
                let address = log.moment.summary.address
            else { throw error }
            return JoinedNetwork(address: address, ssid: asked.network.ssid)
        }
    }

    func cloudContact() async throws(ProvisioningError) -> CloudContact? {
        if let host = log.moment.summary.cloudHost { return .connecting(to: host) }
        return try await inner.cloudContact()
    }

    func reset() async throws(ProvisioningError) {
        try await told { () async throws(ProvisioningError) in try await inner.reset() }
    }
    func associate(_ request: AssociationRequest) async throws(ProvisioningError) -> AssociationReply {
        try await told { () async throws(ProvisioningError) in try await inner.associate(request) }
    }
    func endAssociation() async throws(ProvisioningError) { try await inner.endAssociation() }
    func startClaim() async throws(ProvisioningError) -> [UInt8] {
        try await told { () async throws(ProvisioningError) in try await inner.startClaim() }
    }
    func requestCertificate(_ reply: [UInt8]) async throws(ProvisioningError) -> [UInt8] {
        try await told { () async throws(ProvisioningError) in try await inner.requestCertificate(reply) }
    }
    func storeCertificate(_ reply: [UInt8]) async throws(ProvisioningError) {
        try await told { () async throws(ProvisioningError) in try await inner.storeCertificate(reply) }
    }
    func abortClaim() async -> Bool { await inner.abortClaim() }
    func send(_ payload: [UInt8], to endpoint: String) async throws(ProvisioningError) -> [UInt8] {
        try await told { () async throws(ProvisioningError) in try await inner.send(payload, to: endpoint) }
    }

    func close() async {
        await inner.close()
        reading?.cancel()
        await reading?.value
    }

    /// Runs a step. Where the board is lost in it, what its log complains of meanwhile is the reason.
    private func told<Result: Sendable>(
        _ step: () async throws(ProvisioningError) -> Result
    ) async throws(ProvisioningError) -> Result {
        _ = log.takeTrouble()
        do throws(ProvisioningError) {
            return try await step()
        } catch {
            let isLoss = [.deviceLost, .mayBeJoining, .neverAnswered, .unavailable].contains(error.code)
            guard isLoss, let trouble = log.takeTrouble() else { throw error }
            var told = error
            told.message = "\(trouble.description) \(error.message)"
            told.reason = error.reason ?? trouble.code
            told.remedies += trouble.remedies
            throw told
        }
    }
}
