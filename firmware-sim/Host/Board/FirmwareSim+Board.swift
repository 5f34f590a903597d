// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

extension FirmwareSim {
    /// The boards that the options describe: one, or as many as are asked for.
    func makeBoards(_ journal: Journal) throws -> [Board] {
        let nodes = try bluetooth.nodes.map { try NodeFiles.read($0, count: bluetooth.boards) }
        let accessPoints = simulatedRadio
        var verifiers = VerifierCache()
        var master = BoardRandom(seed: watching.seed)
        var names: Set<String> = []
        return try (0..<bluetooth.boards).map { index in
            let credentials = nodes?[index] ?? NodeFiles(id: kind.nodeId, certificate: cloud.cert, key: cloud.key)
            // The first is the one that there would be alone. Two of the same name would have the same address, too.
            while true {
                var random = index == 0 ? BoardRandom(seed: watching.seed) : master.fork()
                let identity = try identity(credentials, random: &random)
                guard names.insert(identity.name).inserted else { continue }
                return try board(
                    identity, credentials, radio: accessPoints,
                    journal: bluetooth.ble ? journal.about(board: identity.name) : journal, verifiers: &verifiers,
                    random: &random)
            }
        }
    }

    private func identity(_ credentials: NodeFiles, random: inout BoardRandom) throws -> BoardIdentity {
        BoardIdentity(
            name: kind.name, proofOfPossession: kind.noPop ? "" : kind.pop, username: kind.username,
            nodeID: try credentials.id ?? credentials.certificate.flatMap(commonName(ofCertificate:)),
            address: kind.mac?.address, isClaimed: !kind.unclaimed, random: &random)
    }

    private func board(
        _ identity: BoardIdentity, _ credentials: NodeFiles, radio accessPoints: SimulatedRadio, journal: Journal,
        verifiers: inout VerifierCache, random: inout BoardRandom
    ) throws -> Board {
        let firmware = firmware
        let hasLocalProof =
            listening.localControl != nil && firmware.security == 1 && !identity.proofOfPossession.isEmpty
        let localProof = hasLocalProof ? identity.proofOfPossession : nil
        let services = ServiceKind.allCases.filter { kind.services.kinds.contains($0) }
        var configuration = DeviceConfiguration(
            nodeID: Array(identity.nodeID.utf8), security: SecurityVersion(rawValue: Int32(firmware.security)),
            patchVersion: UInt32(firmware.patch), hasProofOfPossession: !identity.proofOfPossession.isEmpty,
            association: firmware.mapping.association, isClaimed: !kind.unclaimed,
            macAddress: Array(identity.macAddress.utf8), claimFaults: kind.claimFault.map(\.fault),
            component: firmware.component,
            provisioning: ProvisioningOptions(
                attempts: firmware.attempts, resetsOnFailure: firmware.resetsOnFailure,
                stopsByItself: !radio.noAutoStop, scanEntries: radio.scanEntries,
                refusesIdleReset: firmware.refusesIdleReset),
            customEndpoint: firmware.customEndpoint.map { Endpoint(name: Array($0.utf8)) },
            services: JSONValue.array(
                services.map(\.configuration) + (localProof == nil ? [] : [ServiceKind.localControl])
            ).serialized())
        configuration.hasLocalData = kind.localData
        let core = SimulatedCore(
            configuration: configuration, radio: accessPoints,
            security: try security(of: identity, &verifiers, random: &random), signer: try credential(credentials))
        let board = Board(
            core: core, identity: identity, credentials: credentials, journal: journal, logLevel: watching.logLevel,
            random: random.fork(), security: try security(of: identity, &verifiers, random: &random),
            services: NodeServices(kind.services.kinds, update: cloud.update, localProof: localProof))
        board.observe { [weak board] event in
            guard case .parametersReceived(let bytes) = event, let values = RemoteParameters.parse(bytes) else {
                return
            }
            board?.set(values, now: MonotonicClock.now)
        }
        return board
    }

    /// An unclaimed board makes its key itself. So does one that signs challenges and was given none: no cloud knows that key.
    private func credential(_ files: NodeFiles) throws -> NodeKey? {
        if let file = files.key { return try NodeKey(file: file) }
        return kind.unclaimed || firmware.mapping == .challengeResponse ? try NodeKey() : nil
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
        of identity: BoardIdentity, _ verifiers: inout VerifierCache, random: inout BoardRandom
    ) throws -> DeviceSecurity<OpenSSLCrypto, BoardRandom> {
        let proof = Array(identity.proofOfPossession.utf8)
        switch firmware.security {
        case 0: return .security0(Security0Device())
        case 1: return .security1(Security1Device(proofOfPossession: proof, random: random.fork()))
        default:
            let verifier = try verifiers.verifier(of: identity, random: &random)
            return .security2(
                Security2Device(
                    verifier: verifier, patchVersion: firmware.patch == 1 ? .countedNonce : .constantNonce,
                    random: random.fork()))
        }
    }
}

/// Verifiers of Security 2 by their password: milliseconds each, and boards may share a proof of possession.
private struct VerifierCache {
    private var made: [String: Security2Verifier] = [:]

    mutating func verifier(of identity: BoardIdentity, random: inout BoardRandom) throws -> Security2Verifier {
        if let verifier = made[identity.proofOfPossession] { return verifier }
        do {
            let verifier = try Security2Verifier(
                username: Array(identity.username.utf8), password: Array(identity.proofOfPossession.utf8),
                salt: random.salt(), with: OpenSSLCrypto.self)
            made[identity.proofOfPossession] = verifier
            return verifier
        } catch { throw StartError("the verifier of Security 2 could not be computed") }
    }
}
