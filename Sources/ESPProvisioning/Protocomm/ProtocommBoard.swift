import Hashing
import Logging
import Protocomm
import ProtocommSecurity
import ProtocommWire
import Vocabulary

/// A ``Board`` that speaks protocomm, over whatever transport.
///
/// With the network given, a whole set-up costs six exchanges under Security 1 or 2: version, two of the handshake, set, apply,
/// and one status when the board joins at once; tying it to an account adds one.
public actor ProtocommBoard<Suite: CryptoSuite, Random: RandomSource>: Board {
    public nonisolated let peer: String
    let session: ProtocommSession
    let credentials: BoardCredentials
    private var random: Random
    let time: Timekeeper
    let logger: Logger
    private var identity: BoardIdentity?
    /// Kept for a session that must be opened again in the middle; a person is asked once.
    private var proofOfPossession: ProofOfPossession?

    /// - Parameters:
    ///   - suite: the cryptography of the handshake, such as libcrypto's.
    ///   - random: draws the handshake's private keys.
    public init(
        transport: any Transport, credentials: BoardCredentials, suite: Suite.Type, random: Random,
        clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) {
        peer = transport.peer
        session = ProtocommSession(transport: transport, clock: clock, logger: logger)
        self.credentials = credentials
        self.random = random
        time = Timekeeper(clock)
        self.logger = logger
    }

    public func identify() async throws(ProvisioningError) -> BoardIdentity {
        let text: [UInt8]
        do {
            text = try await session.versionInfo()
        } catch {
            throw ProvisioningError(error)
        }
        let identity = try VersionInformation(text).identity
        self.identity = identity
        logger.debug("board identified", metadata: ["peer": "\(peer)", "version": "\(identity.version)"])
        return identity
    }

    public func secure() async throws(ProvisioningError) {
        let required: SecurityRequirement
        if let known = identity?.security {
            required = known
        } else if let found = try await identify().security {
            required = found
        } else {
            return
        }
        try check(required)
        if required.needsProofOfPossession, proofOfPossession == nil {
            proofOfPossession = await credentials.proofOfPossession()
            guard proofOfPossession != nil else {
                throw ProvisioningError(
                    .invalidArgument,
                    message: "The board wants a proof of possession: it is on its label or in its QR code (--pop-file)."
                )
            }
        }
        try await handshake(required)
    }

    private func check(_ required: SecurityRequirement) throws(ProvisioningError) {
        if let wanted = credentials.securityVersion, wanted != required.version {
            throw ProvisioningError(
                .securityMismatch,
                message:
                    "The board speaks Security \(required.version), not \(wanted). Leave --sec-ver away to follow it.")
        }
    }

    private func handshake(_ required: SecurityRequirement) async throws(ProvisioningError) {
        let selection = SecuritySelection(
            required, username: credentials.username, secret: proofOfPossession?.secret)
        let scheme = try selection.scheme(Suite.self, random: &random)
        let refused: ProtocommError
        do throws(ProtocommError) {
            try await session.handshake(scheme)
            return
        } catch {
            refused = error
        }
        guard refused.code == .wrongProofOfPossession, let other = selection.fallback(Suite.self) else {
            throw ProvisioningError(refused)
        }
        logger.debug("proof refused; trying the other way to make it", metadata: ["peer": "\(peer)"])
        let another = try selection.scheme(Suite.self, passwordHash: other, random: &random)
        do throws(ProtocommError) {
            try await session.handshake(another)
        } catch {
            // What the first refusal said is what counts, unless the board is gone meanwhile.
            throw ProvisioningError(error.code == .wrongProofOfPossession ? refused : error)
        }
    }

    /// Opens the session again after an exchange was lost; the board starts over at any time.
    func secureAgain() async throws(ProvisioningError) {
        guard let required = identity?.security else { return }
        try await handshake(required)
    }

    /// One request and its answer as messages.
    func ask<Message: WireMessage>(_ request: Message, on endpoint: Endpoint) async throws(ProvisioningError) -> Message
    {
        let answer: [UInt8]
        do {
            answer = try await session.request(request.encoded(), on: endpoint)
        } catch {
            throw ProvisioningError(error)
        }
        do {
            return try Message(decoding: answer)
        } catch {
            throw ProvisioningError(
                .malformed, message: "The board's answer on \(endpoint) cannot be read.", cause: "\(error)")
        }
    }

    func pause(_ duration: Duration) async throws(ProvisioningError) {
        do {
            try await time.sleep(duration)
        } catch {
            throw ProvisioningError(.cancelled, message: "Cancelled.")
        }
    }

    public func close() async { await session.end() }
}
