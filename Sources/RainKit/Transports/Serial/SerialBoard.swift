// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import ProtocommSerial
import RainMakerConsole
import RainSerialPort

/// A board on a serial port, in whichever dialect its console speaks: protocomm's, or RainMaker's own commands.
///
/// The port is opened and probed by ``identify()``, so that nothing is typed into a board before a run has come that far. A
/// booting board answers only once it is up, which the probe waits for.
actor SerialBoard: Board {
    nonisolated let peer: String
    private let opening: BoardOpening
    private var board: (any Board)?
    private var isClosed = false

    init(path: String, opening: BoardOpening) {
        peer = path
        self.opening = opening
    }

    func identify() async throws(ProvisioningError) -> BoardIdentity { try await opened().identify() }
    func secure() async throws(ProvisioningError) { try await opened().secure() }
    func scan() async throws(ProvisioningError) -> [AccessPoint] { try await opened().scan() }
    func join(_ network: WiFiNetwork) async throws(ProvisioningError) { try await opened().join(network) }
    func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) { try await opened().join(network, report: report) }
    func cloudContact() async throws(ProvisioningError) -> CloudContact? { try await opened().cloudContact() }
    func reset() async throws(ProvisioningError) { try await opened().reset() }

    func startClaim() async throws(ProvisioningError) -> [UInt8] { try await opened().startClaim() }
    func requestCertificate(_ reply: [UInt8]) async throws(ProvisioningError) -> [UInt8] {
        try await opened().requestCertificate(reply)
    }
    func storeCertificate(_ reply: [UInt8]) async throws(ProvisioningError) {
        try await opened().storeCertificate(reply)
    }
    func abortClaim() async -> Bool { await board?.abortClaim() ?? false }

    func associate(_ request: AssociationRequest) async throws(ProvisioningError) -> AssociationReply {
        try await opened().associate(request)
    }

    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(ProvisioningError) -> JoinedNetwork {
        try await opened().watch(report: report)
    }

    func send(_ payload: [UInt8], to endpoint: String) async throws(ProvisioningError) -> [UInt8] {
        try await opened().send(payload, to: endpoint)
    }

    func close() async {
        isClosed = true
        await board?.close()
    }

    private func opened() async throws(ProvisioningError) -> any Board {
        if let board { return board }
        let console: CommandConsole
        do {
            console = CommandConsole(port: try SerialPort.open(peer))
        } catch {
            throw ProvisioningError(error)
        }
        let found: any Board
        do {
            found =
                switch try await console.dialect() {
                case .protocomm(let sessionID):
                    opening.protocommBoard(
                        over: ConsoleTransport(console: console, sessionID: sessionID, logger: opening.logger))
                case .rainMaker(let node):
                    RainMakerConsoleBoard(console: console, nodeID: node, logger: opening.logger)
                }
        } catch {
            await console.close()
            throw error
        }
        guard !isClosed else {
            await found.close()
            throw ProvisioningError(.cancelled, message: "The board was closed while it was being opened.")
        }
        board = found
        return found
    }
}

extension ProvisioningError {
    init(_ error: SerialPortError) {
        let code: Code =
            switch error.code {
            case .busy: .busy
            case .lost: .deviceLost
            case .cancelled, .closed: .cancelled
            default: .unavailable
            }
        self.init(code, message: error.message, cause: error.description)
    }
}
