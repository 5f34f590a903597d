// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import RainCore
import RainCrypto

/// A ``Board`` that speaks protocomm, over whatever transport.
///
/// With the network given, a whole set-up costs six exchanges under Security 1 or 2: version, two of the handshake, set, apply,
/// and one status when the board joins at once; tying it to an account adds one.
public actor ProtocommBoard<Suite: CryptoSuite, Random: RandomSource>: Board {
    public nonisolated let peer: String
    let session: ProtocommSession
    let credentials: BoardCredentials
    private let policy: SecurityPolicy
    /// What is known beforehand of the security of a board whose version does not name it.
    let announced: SecurityRequirement?
    /// The patch version of Security 2 is a guess so far.
    var isPatchGuessed = false
    var random: Random
    let time: Timekeeper
    let logger: Logger
    var identity: BoardIdentity?
    /// Kept for a session that must be opened again in the middle; a person is asked once.
    private var proofOfPossession: ProofOfPossession?
    /// How often the connection broke and was made again.
    private(set) var lostLinks = 0
    /// What ``join(_:report:)`` was asked for, which ``watch(report:)`` compares with where the board is.
    var asked: WiFiNetwork?
    /// Nobody can say whether the attempt under way is at what was asked for, or at what an earlier run left.
    var isAttemptInDoubt = false
    /// Where the board was found when it was to be told.
    var arrival: JoinedNetwork?
    /// More than bad luck: with one session in twenty broken, it happens once in ten thousand million boards.
    private static var maximumLostLinks: Int { 8 }
    /// How many answers came that could not be read, or did not come: torn by the log on a console, say.
    private var tornAnswers = 0
    private var maximumTornAnswers: Int { session.mayGarbleAnswers ? 12 : 3 }
    /// The same in a row: a board that answers so each time means it.
    private var tornInARow = 0
    private var unansweredProofs = 0
    /// Another client at the same board.
    var contention = Contention()
    /// How many proofs the board has refused, and counted.
    private var refusedProofs: Int
    /// How many may have been counted though no verdict came, since another client broke the handshake.
    private var proofsInDoubt = 0
    /// RainMaker boards stop at the fifth wrong proof: whoever comes to look has one left.
    private static var maximumProofsBesideAnother: Int { 4 }
    /// A proof that has opened a session is not wrong.
    private var mayProveAgain: Bool {
        sessions > 0 || refusedProofs + proofsInDoubt < Self.maximumProofsBesideAnother
    }
    /// When the board accepted an Apply.
    var appliedAt: Duration?
    /// How many sessions the board has opened.
    private(set) var sessions = 0
    /// The board has answered there; it no longer has the endpoint once its service ends.
    private var hasServedConfig = false
    /// Whose the board is to be, and the session in which it was told so: a restart makes it forget.
    var toldUser: (UserID, MappingSecret)?
    var toldInSession = 0
    /// The claim that is under way.
    var claim = ClaimAttempt()

    /// - Parameters:
    ///   - suite: the cryptography of the handshake, such as libcrypto's.
    ///   - random: draws the handshake's private keys.
    ///   - announced: the security of a board whose version does not name it, where that is known; it is found out otherwise.
    public init(
        transport: any Transport, credentials: BoardCredentials, suite: Suite.Type, random: Random,
        announced: SecurityRequirement? = nil, clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) {
        self.announced = announced
        peer = transport.peer
        session = ProtocommSession(transport: transport, clock: clock, logger: logger)
        self.credentials = credentials
        refusedProofs = credentials.refusedBefore
        policy = SecurityPolicy(credentials)
        self.random = random
        time = Timekeeper(clock)
        self.logger = logger
    }

    public func identify() async throws(ProvisioningError) -> BoardIdentity {
        var identity = try await askVersion()
        if identity.security == nil { identity.security = try await unnamedSecurity() }
        self.identity = identity
        logger.debug("board identified", metadata: ["peer": "\(peer)", "version": "\(identity.version)"])
        return identity
    }

    private func askVersion() async throws(ProvisioningError) -> BoardIdentity {
        while true {
            let text: [UInt8]
            do throws(ProtocommError) {
                text = try await throughLosses { () throws(ProtocommError) in try await session.versionInfo() }
            } catch {
                throw ProvisioningError(error)
            }
            do throws(ProvisioningError) {
                return try VersionInformation(text).identity
            } catch {
                guard session.mayGarbleAnswers else { throw error.asOtherServer(peer) }
                guard askAgain(atMost: 2) else { throw error }
            }
        }
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
        if let refusal = policy.refusal(of: required) { throw refusal }
        if !required.needsProofOfPossession { credentials.whenUnproven(required) }
        if required.needsProofOfPossession, proofOfPossession == nil {
            proofOfPossession = await credentials.proofOfPossession()
            guard proofOfPossession != nil else {
                if Task.isCancelled { throw ProvisioningError(.cancelled, message: "Cancelled.") }
                throw ProvisioningError(
                    .invalidArgument,
                    message: "The board wants a proof of possession: it is on its label or in its QR code.",
                    remedies: [.proofOfPossession])
            }
        }
        // Each wrong proof counts, and this one cannot be right.
        if required.needsProofOfPossession, let proof = proofOfPossession,
            (try? QRPayload(proof.secret.revealBytes())) != nil
        {
            throw ProvisioningError(
                .malformed,
                message:
                    "The proof of possession that was given is the whole text of a QR code: give the proof of possession alone.",
                reason: "qr_code_as_proof")
        }
        do throws(ProvisioningError) {
            try await handshake(required)
        } catch {
            guard let other = otherPatch(after: error) else { throw error }
            try await handshake(other)
        }
    }

    private func handshake(_ required: SecurityRequirement) async throws(ProvisioningError) {
        let selection = SecuritySelection(
            required, username: credentials.username, secret: proofOfPossession?.secret)
        guard var refused = try await shakeHands(selection) else { return }
        if refused.code == .wrongProofOfPossession, contention.isRecent(time.elapsed()), mayProveAgain {
            // With another client about, it may have been this one's connection that the board closed.
            guard let again = try await shakeHands(selection) else { return }
            refused = again
        }
        if sessions > 0, let ending = ending(refused) { throw ending }
        guard refused.code == .wrongProofOfPossession, credentials.refusedBefore == 0,
            let other = selection.fallback(Suite.self)
        else {
            throw failure(refused, selection)
        }
        logger.debug("proof refused; trying the other way to make it", metadata: ["peer": "\(peer)"])
        guard let again = try await shakeHands(selection, passwordHash: other) else { return }
        // What the first refusal said is what counts, unless the board is gone meanwhile.
        throw failure(again.code == .wrongProofOfPossession ? refused : again, selection)
    }

    /// What the refusal of a handshake means that the board has taken before: scheme and proof are right.
    private func ending(_ refusal: ProtocommError) -> ProvisioningError? {
        guard let cause = refusal.cause else { return nil }
        if refusal.code == .wrongProofOfPossession || refusal.code == .noSuchEndpoint { return .leaving(peer, refusal) }
        // A first command that gets no answer is most likely lost on a console.
        guard refusal.code == .securityMismatch, cause.code == .refused, !session.mayGarbleAnswers else { return nil }
        var ending = ProvisioningError.leaving(peer, refusal)
        ending.isLeaving = false
        return ending
    }

    private func failure(_ error: ProtocommError, _ selection: SecuritySelection) -> ProvisioningError {
        guard error.code == .wrongProofOfPossession, refusedProofs > credentials.refusedBefore else {
            return ProvisioningError(error)
        }
        var refusal = ProvisioningError.refusedProof(
            error, selection, count: identity?.isOnNetwork == true ? nil : refusedProofs)
        refusal.message = refusal.message.because(of: proofOfPossession?.secret.remark(as: "proof of possession"))
        return refusal
    }

    /// What the handshake failed with, or nil.
    private func shakeHands(
        _ selection: SecuritySelection, passwordHash: PasswordHash = .standard
    ) async throws(ProvisioningError) -> ProtocommError? {
        while true {
            let scheme = try selection.scheme(Suite.self, passwordHash: passwordHash, random: &random)
            do throws(ProtocommError) {
                try await session.handshake(scheme)
                sessions += 1
                return nil
            } catch {
                // A board that failed to prove itself has not refused anything.
                if error.code == .wrongProofOfPossession, error.cause != nil { refusedProofs += 1 }
                if error.code == .evicted, error.isProofInDoubt {
                    proofsInDoubt += 1
                    guard mayProveAgain else { return error }
                }
                guard await survives(error) else { return error }
            }
        }
    }

    /// Whether the connection broke, can be made again, and has not done so too often. An answer that cannot be read breaks the session,
    /// too, over any transport.
    private func survives(_ error: ProtocommError) async -> Bool {
        if error.cause?.code == .evicted {
            // A board that restarted has another session, too, and has forgotten its claim.
            return error.endpoint == .claim ? false : await waitsForOtherClient(error)
        }
        if error.cause?.code == .malformed { return askAgain(atMost: session.mayGarbleAnswers ? 5 : 3) }
        if session.mayGarbleAnswers {
            if error.cause?.reason == TransportError.noAnswer {
                // Firmware that logs nothing refuses a proof so, and counts it.
                if error.code == .wrongProofOfPossession { unansweredProofs += 1 }
                return unansweredProofs <= 1 && mayProveAgain && askAgain(atMost: 3)
            }
            // The handshake itself finds that bytes have changed.
            if error.cause == nil, [.securityMismatch, .wrongProofOfPossession].contains(error.code) {
                return askAgain(atMost: 2)
            }
        }
        guard session.restoresLinks, error.cause?.code == .lost, lostLinks < Self.maximumLostLinks else { return false }
        lostLinks += 1
        logger.debug("the connection broke; making it again", metadata: ["peer": "\(peer)", "times": "\(lostLinks)"])
        return true
    }

    /// Whether an answer that is missing or makes no sense is asked for again.
    private func askAgain(atMost limit: Int) -> Bool {
        guard tornAnswers < maximumTornAnswers, tornInARow < limit else { return false }
        tornAnswers += 1
        tornInARow += 1
        logger.debug("an answer cannot be read; asking again", metadata: ["peer": "\(peer)"])
        return true
    }

    private func throughLosses<Value>(
        _ body: () async throws(ProtocommError) -> Value
    ) async throws(ProtocommError) -> Value {
        while true {
            do throws(ProtocommError) {
                let value = try await body()
                tornInARow = 0
                return value
            } catch {
                guard await survives(error) else { throw error }
            }
        }
    }

    /// Opens the session again after an exchange was lost; the board starts over at any time.
    func secureAgain() async throws(ProvisioningError) {
        guard let required = identity?.security else { return }
        // The board may have been asked again what it is.
        if let refusal = policy.refusal(of: required) { throw refusal }
        try await handshake(required)
    }

    /// Sends one request and returns its answer, as messages. It is sent again, in a new session, where the connection broke and where no
    /// answer came: only for requests that may be sent twice.
    ///
    /// - Parameters:
    ///   - limit: how long to wait for the answer at first, where an answer may be lost without notice; the transport's deadline if nil.
    ///   - repeats: how often it is sent again after a silence or a refusal, which a lost answer can look like.
    ///   - isExpected: whether an answer is of the kind that was asked for. One that is not may have changed on the way.
    func ask<Message: WireMessage>(
        _ request: Message, on endpoint: Endpoint, within limit: Duration? = nil, repeats: Int = 1,
        isExpected: (Message) -> Bool = { _ in true }
    ) async throws(ProvisioningError) -> Message {
        var (limit, repeats) = (limit, repeats)
        while true {
            let reply: Message?
            do throws(ProvisioningError) {
                reply = try await askOnce(request, on: endpoint, within: limit)
            } catch {
                guard repeats > 0, error.mayBeLostAnswer, !Task.isCancelled else { throw error }
                logger.debug("no answer; asking again in a new session", metadata: ["endpoint": "\(endpoint)"])
                repeats -= 1
                limit = nil
                continue
            }
            guard let answer = reply else { continue }
            guard !isExpected(answer), session.mayGarbleAnswers, askAgain(atMost: 2) else { return answer }
            await session.markInvalid()
        }
    }

    /// How long an answer takes at most where one can be lost without notice. Nil over transports that notice it: a link of Bluetooth
    /// breaks, and a console shows its prompt.
    func answerLimit(_ limit: Duration) -> Duration? {
        session.restoresLinks || session.mayGarbleAnswers ? nil : limit
    }

    /// The same, asked once: nil where the connection broke before there was an answer, and a new session stands.
    ///
    /// If an earlier exchange was given up before its answer came, the session can no longer be used: it is opened again first.
    ///
    /// - Parameters:
    ///   - limit: how long to wait for the answer; the transport's deadline if nil.
    ///   - restores: false to leave it to the caller to open the new session.
    func askOnce<Message: WireMessage>(
        _ request: Message, on endpoint: Endpoint, within limit: Duration? = nil, restores: Bool = true
    ) async throws(ProvisioningError) -> Message? {
        if await session.state == .outOfStep { try await secureAgain() }
        let answer: [UInt8]
        do throws(ProtocommError) {
            answer = try await session.request(request.encoded(), on: endpoint, within: limit)
        } catch {
            guard await survives(error) else {
                if error.code == .noSuchEndpoint, endpoint == .config, hasServedConfig { throw .leaving(peer, error) }
                throw ProvisioningError(error)
            }
            if restores { try await secureAgain() }
            return nil
        }
        do {
            let message = try Message(decoding: answer)
            tornInARow = 0
            if endpoint == .config { hasServedConfig = true }
            return message
        } catch {
            // Its cipher may have lost count.
            await session.markInvalid()
            if session.mayGarbleAnswers, askAgain(atMost: 2) {
                if restores { try await secureAgain() }
                return nil
            }
            throw ProvisioningError(
                .malformed,
                message: "The board's answer on \(endpoint) cannot be read. Restart the board, then run this again.",
                cause: "\(error)")
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
