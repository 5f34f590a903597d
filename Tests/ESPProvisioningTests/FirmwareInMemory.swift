// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import RainCryptoOpenSSL
// The board's own, not the client's view of it.
import struct DeviceCore.SimulatedAccessPoint
import ESPProvisioning
import Logging
import Protocomm
import ProtocommCore
import RainCore
import RainCrypto
import RainKitTesting
import Synchronization

/// The board's own state machine behind an in-memory transport, on a clock that a test moves.
final class FirmwareInMemory: Sendable {
    private struct NoCredential: NodeCredential {
        func sign(_ message: [UInt8]) throws(SignatureFailure) -> [UInt8] { throw SignatureFailure() }
        func certificateRequest(for nodeID: [UInt8]) throws(SignatureFailure) -> [UInt8] { throw SignatureFailure() }
        func accepts(certificate: [UInt8], for nodeID: [UInt8]) -> Bool { false }
    }

    private typealias Core = DeviceCore<DeviceSecurity<OpenSSLCrypto, OpenSSLRandom>, NoCredential>

    let clock = ManualClock()
    private let core: Mutex<Core>
    private let endpoints = Mutex<[Endpoint]>([])
    private struct Listener { var call: @Sendable () -> Void = {} }
    private let listener = Mutex(Listener())

    init(
        _ options: ProvisioningOptions = ProvisioningOptions(), fault: SimulatedRadio.Fault = .none,
        joinDelay: UInt64 = 400, security: SecurityVersion = .security1, hasProof: Bool = true
    ) throws {
        let proof = hasProof ? Array("abcd1234".utf8) : []
        let scheme: DeviceSecurity<OpenSSLCrypto, OpenSSLRandom> =
            switch security {
            case .security0: .security0(Security0Device())
            case .security2:
                .security2(
                    Security2Device(
                        verifier: try Security2Verifier(
                            username: Array("wifiprov".utf8), password: proof, salt: Array(1...16),
                            with: OpenSSLCrypto.self), patchVersion: .countedNonce, random: OpenSSLRandom()))
            default: .security1(Security1Device(proofOfPossession: proof, random: OpenSSLRandom()))
            }
        let home = SimulatedAccessPoint(
            ssid: Array("Home".utf8), bssid: [2, 0x11, 0x22, 0x33, 0x44, 0x55], channel: 6, rssi: -42,
            authentication: .wpa2PSK, passphrase: Array("correct horse".utf8))
        core = Mutex(
            Core(
                configuration: DeviceConfiguration(
                    nodeID: Array("node1".utf8), security: security, hasProofOfPossession: hasProof,
                    provisioning: options),
                radio: SimulatedRadio(accessPoints: [home], joinDelay: joinDelay, fault: fault),
                security: scheme, signer: nil))
    }

    /// What it has been asked so far.
    var asked: [Endpoint] { endpoints.withLock { $0 } }

    /// Called at each request from now on.
    func whenAsked(_ call: @escaping @Sendable () -> Void) { listener.withLock { $0.call = call } }

    /// The board loses what it has in memory only.
    func restart() { core.withLock { $0.restart() } }

    /// Whether it would report its user to its cloud.
    var reportsMapping: Bool {
        var core = core.withLock { $0 }
        core.connectedToCloud()
        if let config = core.nextPublication { core.published(config) }
        return core.nextPublication?.kind == .userMapping
    }

    private var milliseconds: UInt64 { UInt64(clock.now.offset / .milliseconds(1)) }

    private func answer(_ request: [UInt8], _ endpoint: Endpoint) -> [UInt8]? {
        endpoints.withLock { $0.append(endpoint) }
        listener.withLock { $0 }.call()
        let now = milliseconds
        return core.withLock { core in
            while let due = core.nextDue, due <= now { core.advance(to: due) }
            core.advance(to: now)
            guard case .reply(let reply) = core.respond(to: request, on: endpoint, session: 1, now: now) else {
                return nil
            }
            return reply
        }
    }

    /// - Parameter fault: exchanges are numbered from 0: the version, two of the handshake, and what follows.
    func board(
        restoresLinks: Bool = false, proof: String = "abcd1234",
        fault: @escaping @Sendable (Int, Endpoint) -> InMemoryTransport.Fault? = { _, _ in nil }
    ) -> ProtocommBoard<OpenSSLCrypto, OpenSSLRandom> {
        ProtocommBoard(
            transport: InMemoryTransport(restoresLinks: restoresLinks, clock: clock, fault: fault) {
                request, endpoint in
                self.answer(request, endpoint)
            },
            credentials: BoardCredentials { ProofOfPossession(proof) }, suite: OpenSSLCrypto.self,
            random: OpenSSLRandom(), clock: clock, logger: Logger(label: "test"))
    }

    /// A board with its session, ready for what a test asks.
    func securedBoard(
        restoresLinks: Bool = false,
        fault: @escaping @Sendable (Int, Endpoint) -> InMemoryTransport.Fault? = { _, _ in nil }
    ) async throws -> ProtocommBoard<OpenSSLCrypto, OpenSSLRandom> {
        let board = board(restoresLinks: restoresLinks, fault: fault)
        _ = try await board.identify()
        try await board.secure()
        return board
    }
}
