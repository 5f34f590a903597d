import CryptoOpenSSL
import DeviceCore
import Hashing
import ProtocommSecurity
import ProtocommWire

extension FirmwareSim {
    /// The board that the options describe.
    func makeBoard() throws -> Board {
        var random = BoardRandom(seed: watching.seed)
        let identity = BoardIdentity(
            name: kind.name, proofOfPossession: kind.noPop ? "" : kind.pop, username: kind.username,
            nodeID: try kind.nodeId ?? cloud.cert.flatMap(commonName(ofCertificate:)), isClaimed: !kind.unclaimed,
            random: &random)
        let configuration = DeviceConfiguration(
            nodeID: Array(identity.nodeID.utf8), security: SecurityVersion(rawValue: Int32(kind.security)),
            patchVersion: UInt32(kind.patch), hasProofOfPossession: !identity.proofOfPossession.isEmpty,
            association: kind.mapping.association, isClaimed: !kind.unclaimed,
            provisioning: ProvisioningOptions(
                attempts: radio.attempts, resetsOnFailure: radio.resetOnFailure, stopsByItself: !radio.noAutoStop))
        let core = SimulatedCore(
            configuration: configuration, radio: simulatedRadio,
            security: try security(of: identity, random: &random), signer: try cloud.key.map(NodeKey.init(file:)))
        return Board(
            core: core, identity: identity, journal: try Journal(path: watching.journal),
            logLevel: watching.logLevel, random: random.fork())
    }

    private var simulatedRadio: SimulatedRadio {
        let accessPoints =
            radio.wifi.enumerated().map { $1.accessPoint(at: $0) } + radio.ap.map(\.accessPoint)
        return SimulatedRadio(
            accessPoints: accessPoints.sorted { $0.rssi > $1.rssi },
            joinDelay: UInt64((radio.joinDelay * 1000).rounded()),
            channelDelay: UInt64((radio.channelDelay * 1000).rounded()), fault: radio.fail.fault)
    }

    private func security(
        of identity: BoardIdentity, random: inout BoardRandom
    ) throws -> DeviceSecurity<OpenSSLCrypto, BoardRandom> {
        let proof = Array(identity.proofOfPossession.utf8)
        switch kind.security {
        case 0: return .security0(Security0Device())
        case 1: return .security1(Security1Device(proofOfPossession: proof, random: random.fork()))
        default:
            let verifier: Security2Verifier
            do {
                verifier = try Security2Verifier(
                    username: Array(identity.username.utf8), password: proof, salt: random.bytes(16),
                    with: OpenSSLCrypto.self)
            } catch { throw StartError("the verifier of Security 2 could not be computed") }
            return .security2(
                Security2Device(
                    verifier: verifier, patchVersion: kind.patch == 1 ? .countedNonce : .constantNonce,
                    random: random.fork()))
        }
    }
}
