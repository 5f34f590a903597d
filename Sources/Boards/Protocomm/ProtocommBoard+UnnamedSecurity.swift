// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import RainCore
import RainCrypto

/// Boards whose version does not name their security, as RainMaker's on-network service: it stands in the TXT record of the service, and is
/// otherwise found out by the first command of a handshake, which a board of another scheme refuses.
extension ProtocommBoard {
    /// Throws what the handshakes throw where the board takes none of them.
    func unnamedSecurity() async throws(ProvisioningError) -> SecurityRequirement {
        var security: SecurityRequirement
        if let announced {
            security = announced
        } else {
            security = try await probedSecurity()
        }
        // What protocomm has had since early 2025; `otherPatch` makes up for older ones.
        if security.version == 2 { (security.patch, isPatchGuessed) = (1, true) }
        return security
    }

    private func probedSecurity() async throws(ProvisioningError) -> SecurityRequirement {
        // Nobody who answers in the board's place gets more out of this than the public keys of handshakes that are never finished.
        for version in credentials.securityVersion.map({ [$0] }) ?? [1, 2, 0] {
            guard try await takesFirstCommand(of: version) else { continue }
            var needsProof = version == 2
            if version == 1 {
                // An empty proof is refused by a board that wants one, and known proofs are for a board that does.
                let isExpected = credentials.hasProofOfPossession || credentials.leastSecurity.needsProofOfPossession
                needsProof = if isExpected { true } else { try await !takesNoProof() }
            }
            return SecurityRequirement(version: version, needsProofOfPossession: needsProof)
        }
        throw ProvisioningError(
            .securityMismatch,
            message:
                "The board at \(peer) takes no session of Security \(credentials.securityVersion.map { "\($0)" } ?? "0, 1 or 2").",
            remedies: credentials.securityVersion == nil ? [] : [.anySecurity])
    }

    private func takesFirstCommand(of version: Int) async throws(ProvisioningError) -> Bool {
        let probe = FirstCommand(scheme: try probe(version))
        do throws(ProtocommError) {
            try await session.handshake(probe)
            return true
        } catch {
            // The probe's own end, and the board's refusal.
            if error.code == .cipherFailure { return true }
            if error.code == .securityMismatch { return false }
            throw ProvisioningError(error)
        }
    }

    private func takesNoProof() async throws(ProvisioningError) -> Bool {
        let scheme = try probe(1)
        do throws(ProtocommError) {
            try await session.handshake(scheme)
            return true
        } catch {
            if error.code == .wrongProofOfPossession { return false }
            throw ProvisioningError(error)
        }
    }

    private func probe(_ version: Int) throws(ProvisioningError) -> ClientSecurity<Suite> {
        try SecuritySelection(
            SecurityRequirement(version: version, needsProofOfPossession: false), username: credentials.username,
            secret: nil
        ).scheme(Suite.self, random: &random)
    }

    /// What to try after a guess at the patch version: a board that has proved itself and hands out a nonce of another length has the other.
    /// Neither the version nor the TXT record names it, so nothing better is known than what the board shows.
    func otherPatch(after error: ProvisioningError) -> SecurityRequirement? {
        guard isPatchGuessed, error.code == .securityMismatch, var security = identity?.security else { return nil }
        isPatchGuessed = false
        security.patch = 0
        identity?.security = security
        return security
    }
}

/// A handshake that ends, by intention, with the board's answer to its first command.
private struct FirstCommand<Suite: CryptoSuite>: SecurityScheme {
    var scheme: ClientSecurity<Suite>
    var title: String { scheme.title }

    mutating func start() throws(HandshakeError) -> HandshakeStep { try scheme.start() }

    mutating func receive(_ response: [UInt8]) throws(HandshakeError) -> HandshakeStep {
        _ = try scheme.receive(response)
        throw .notEstablished
    }

    consuming func finish() throws(HandshakeError) -> SelectedCipher<Suite> { throw .notEstablished }
}
