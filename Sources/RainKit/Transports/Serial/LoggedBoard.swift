// SPDX-License-Identifier: Apache-2.0
import ESPDeviceLog
import ESPProvisioning
import RainSerialPort

/// A board that is reached another way, and whose log comes over a cable.
///
/// What the log says completes what the other way tells: a crash is the reason why the connection was lost, and an address is a board that
/// has left for its network.
actor LoggedBoard: Board {
    nonisolated let peer: String
    private let inner: any Board
    private let address: String
    private let log: DeviceLog
    private let reading: Task<Void, Never>

    init(_ inner: any Board, at address: BoardAddress, log: DeviceLog, port: PortOpening.OpenPort, ports: PortOpening) {
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

    func identify() async throws(ProvisioningError) -> BoardIdentity {
        var identity = try await told { () async throws(ProvisioningError) in try await inner.identify() }
        identity.reachedAt = address
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
        try await told { () async throws(ProvisioningError) in try await inner.join(network) }
    }
    func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) {
        try await told { () async throws(ProvisioningError) in try await inner.join(network, report: report) }
    }

    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(ProvisioningError) -> JoinedNetwork {
        try await told { () async throws(ProvisioningError) in try await inner.watch(report: report) }
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
        reading.cancel()
        await reading.value
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
            throw told
        }
    }
}
