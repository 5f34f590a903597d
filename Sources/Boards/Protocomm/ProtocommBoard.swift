// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import RainCore
import RainCrypto

/// A ``Board`` with protocomm, over any transport.
///
/// If the network is given, a complete setup takes six exchanges under Security 1 or 2: version, handshake (two), set, apply and status. It
/// takes more status requests if the board does not join at once. Associating it with an account adds one exchange.
public actor ProtocommBoard<Suite: CryptoSuite, Random: RandomSource>: Board {
    public nonisolated let peer: String
    let session: ProtocommSession
    let credentials: BoardCredentials
    private let policy: SecurityPolicy
    /// The security that is known in advance for a board whose version information does not name it.
    let announced: SecurityRequirement?
    /// Whether the patch version of Security 2 is only a guess so far.
    var isPatchGuessed = false
    var random: Random
    let time: Timekeeper
    let logger: Logger
    var identity: BoardIdentity?
    /// Kept for a session that must be reopened, so that a person is asked only once.
    private var proofOfPossession: ProofOfPossession?
    /// How often the connection broke and was restored.
    private(set) var lostLinks = 0
    /// The network that ``join(_:report:)`` was called with. ``watch(report:)`` compares it with the board's network.
    var asked: WiFiNetwork?
    /// Whether the current attempt may be for an earlier run's network instead of the requested one.
    var isAttemptInDoubt = false
    /// The network that the board had already joined when it was to be provisioned.
    var arrival: JoinedNetwork?
    /// More than bad luck: if one session in twenty breaks, it happens to one board in 10,000 million.
    private static var maximumLostLinks: Int { 8 }
    /// How many answers were unreadable or missing, for example torn by the log on a console.
    private var tornAnswers = 0
    private var maximumTornAnswers: Int { session.mayGarbleAnswers ? 12 : 3 }
    /// The number of consecutive ones: if a board always answers like this, repeating does not help.
    private var tornInARow = 0
    private var unansweredProofs = 0
    /// Detects another client at the same board.
    var contention = Contention()
    /// How many proofs the board has refused, and counted.
    private var refusedProofs: Int
    /// Whether the given proof was sent in a second form, which the board counts as another proof.
    private var hasSentBothForms = false
    /// How many proofs the board may have counted without a result, because another client broke the handshake.
    private var proofsInDoubt = 0
    /// RainMaker boards stop at the fifth wrong proof; this leaves one for the user.
    private static var maximumProofsBesideAnother: Int { 4 }
    /// Whether another proof may be sent: one that has opened a session is not wrong.
    private var mayProveAgain: Bool {
        sessions > 0 || refusedProofs + proofsInDoubt < Self.maximumProofsBesideAnother
    }
    /// When the board accepted an Apply.
    var appliedAt: Duration?
    /// When the board last answered, during or after ``join(_:report:)``.
    var lastAnswer = Duration.zero
    /// Why the board does not answer in ``watch(report:)``; nil while it answers.
    var silence: BoardError?
    /// How many sessions the board has opened.
    private(set) var sessions = 0
    /// Whether the board has answered on this endpoint. It no longer has it once its service ends.
    private var hasServedConfig = false
    /// The user and secret sent to the board, and the session that sent them. The board forgets both when it restarts.
    var toldUser: (UserID, MappingSecret)?
    var toldInSession = 0
    /// The current claim.
    var claim = ClaimAttempt()

    /// - Parameters:
    ///   - suite: the cryptography of the handshake, such as libcrypto's.
    ///   - random: provides the handshake's private keys.
    ///   - announced: the security of a board whose version information does not name it, if known; otherwise handshakes find it out.
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

    public func identify() async throws(BoardError) -> BoardIdentity {
        var identity = try await askVersion()
        if identity.security == nil { identity.security = try await unnamedSecurity() }
        self.identity = identity
        logger.debug("board identified", metadata: ["peer": "\(peer)", "version": "\(identity.version)"])
        return identity
    }

    private func askVersion() async throws(BoardError) -> BoardIdentity {
        var unreadable: Set<[UInt8]> = []
        while true {
            let text: [UInt8]
            do throws(BoardError) {
                text = try await throughLosses { () throws(BoardError) in try await session.versionInfo() }
            } catch {
                throw error.withAdvice
            }
            do throws(BoardError) {
                return try VersionInformation(text).identity
            } catch {
                guard session.mayGarbleAnswers else { throw error.asOtherServer(peer) }
                // Firmware that sends something else always sends the same.
                unreadable.insert(text)
                guard askAgain(atMost: 2) else {
                    throw unreadable.count > 1 ? BoardError.charactersLost("\(error)") : error
                }
            }
        }
    }

    public func secure() async throws(BoardError) {
        let required: SecurityRequirement
        if let known = identity?.security {
            required = known
        } else if let found = try await identify().security {
            required = found
        } else {
            return
        }
        if let refusal = policy.refusal(of: required) { throw refusal }
        // Nothing is known about a scheme that is not supported; the handshake reports it.
        if !required.needsProofOfPossession, (0...2).contains(required.version) { credentials.whenUnproven(required) }
        if required.needsProofOfPossession, proofOfPossession == nil {
            proofOfPossession = await credentials.proofOfPossession()
            guard proofOfPossession != nil else {
                if Task.isCancelled {
                    var cancelled = BoardError(.cancelled, message: "Cancelled.")
                    cancelled.unfinished = "the question for the proof of possession was not answered"
                    throw cancelled
                }
                throw BoardError(
                    .invalidArgument,
                    message: "The board needs a proof of possession, which is on its label or in its QR code.",
                    reason: "proof_needed", remedies: [.proofOfPossession])
            }
        }
        // Each wrong proof counts, and this one cannot be right.
        if required.needsProofOfPossession, let proof = proofOfPossession,
            (try? QRPayload(proof.secret.revealBytes())) != nil
        {
            throw BoardError(
                .malformed,
                message:
                    "The given proof of possession is the whole text of a QR code. Give only the proof of possession.",
                reason: "qr_code_as_proof")
        }
        do throws(BoardError) {
            try await handshake(required)
        } catch {
            guard let other = otherPatch(after: error) else { throw error }
            try await handshake(other)
        }
    }

    private func handshake(_ required: SecurityRequirement) async throws(BoardError) {
        let selection = SecuritySelection(
            required, username: credentials.username, secret: proofOfPossession?.secret)
        guard var refused = try await shakeHands(selection) else { return }
        if refused.code == .wrongProofOfPossession, contention.isRecent(time.elapsed()), mayProveAgain {
            // With another client, it may have been this one's connection that the board closed.
            guard let again = try await shakeHands(selection) else { return }
            refused = again
        }
        if sessions > 0, let ending = ending(refused) { throw ending }
        guard refused.code == .wrongProofOfPossession, credentials.refusedBefore == 0,
            let other = selection.fallback(Suite.self)
        else {
            throw failure(refused, selection)
        }
        logger.debug("proof refused; trying the proof for a faulty verifier", metadata: ["peer": "\(peer)"])
        hasSentBothForms = true
        guard let again = try await shakeHands(selection, passwordHash: other) else { return }
        // Throw the first refusal, unless the board has gone in the meantime.
        throw failure(again.code == .wrongProofOfPossession ? refused : again, selection)
    }

    /// Returns the meaning of a refused handshake that the board accepted before, so that scheme and proof are right.
    private func ending(_ refusal: BoardError) -> BoardError? {
        guard refusal.transportCode != nil else { return nil }
        if refusal.code == .wrongProofOfPossession || refusal.code == .noSuchEndpoint { return .leaving(peer, refusal) }
        // On a console, a first command without an answer was most likely lost.
        guard refusal.code == .securityMismatch, refusal.transportCode == .refused, !session.mayGarbleAnswers else {
            return nil
        }
        var ending = BoardError.leaving(peer, refusal)
        ending.isLeaving = false
        return ending
    }

    private func failure(_ error: BoardError, _ selection: SecuritySelection) -> BoardError {
        guard error.code == .wrongProofOfPossession, refusedProofs > credentials.refusedBefore else {
            return error.withAdvice
        }
        var refusal = BoardError.refusedProof(
            error, selection, count: identity?.isOnNetwork == true ? nil : refusedProofs,
            inBothForms: hasSentBothForms)
        refusal.message = refusal.message.because(of: proofOfPossession?.secret.remark(as: "proof of possession"))
        return refusal
    }

    /// Performs the handshake and returns its error, or nil.
    private func shakeHands(
        _ selection: SecuritySelection, passwordHash: PasswordHash = .standard
    ) async throws(BoardError) -> BoardError? {
        while true {
            let scheme = try selection.scheme(Suite.self, passwordHash: passwordHash, random: &random)
            do throws(BoardError) {
                try await session.handshake(scheme)
                sessions += 1
                return nil
            } catch {
                // A board that failed to prove itself has not refused anything.
                if error.code == .wrongProofOfPossession, error.transportCode != nil { refusedProofs += 1 }
                if error.code == .evicted, error.isProofInDoubt {
                    proofsInDoubt += 1
                    guard mayProveAgain else { return error }
                }
                guard await survives(error) else { return error }
            }
        }
    }

    /// Returns whether the session can continue: the connection broke, can be restored, and has not broken too often. An unreadable answer
    /// also breaks the session, over any transport.
    private func survives(_ error: BoardError) async -> Bool {
        if error.transportCode == .evicted {
            // A board that restarted also has another session, and has forgotten its claim.
            return error.endpoint == .claim ? false : await waitsForOtherClient(error)
        }
        if error.transportCode == .malformed { return askAgain(atMost: session.mayGarbleAnswers ? 5 : 3) }
        if session.mayGarbleAnswers {
            if error.reason == BoardError.noAnswer {
                // Firmware with its log switched off refuses a proof in this way, and counts it.
                if error.code == .wrongProofOfPossession { unansweredProofs += 1 }
                return unansweredProofs <= 1 && mayProveAgain && askAgain(atMost: 3)
            }
            // The handshake itself detects changed bytes.
            if error.transportCode == nil, [.securityMismatch, .wrongProofOfPossession].contains(error.code) {
                return askAgain(atMost: 2)
            }
        }
        guard session.restoresLinks, error.transportCode == .lost, lostLinks < Self.maximumLostLinks else {
            return false
        }
        lostLinks += 1
        logger.debug("the connection broke; restoring it", metadata: ["peer": "\(peer)", "times": "\(lostLinks)"])
        return true
    }

    /// Returns whether a request whose answer is missing or makes no sense is repeated.
    private func askAgain(atMost limit: Int) -> Bool {
        guard tornAnswers < maximumTornAnswers, tornInARow < limit else { return false }
        tornAnswers += 1
        tornInARow += 1
        logger.debug("an answer cannot be read; asking again", metadata: ["peer": "\(peer)"])
        return true
    }

    private func throughLosses<Value>(
        _ body: () async throws(BoardError) -> Value
    ) async throws(BoardError) -> Value {
        while true {
            do throws(BoardError) {
                let value = try await body()
                tornInARow = 0
                return value
            } catch {
                guard await survives(error) else { throw error }
            }
        }
    }

    /// Opens the session again after a lost exchange; the board starts over at any time.
    func secureAgain() async throws(BoardError) {
        guard let required = identity?.security else { return }
        // The identity may have been read again.
        if let refusal = policy.refusal(of: required) { throw refusal }
        try await handshake(required)
    }

    /// Sends one message and returns its answer. If the connection broke or no answer arrived, it sends the message again in a new session,
    /// so use it only for requests that may be sent twice.
    ///
    /// - Parameters:
    ///   - limit: how long to wait for the answer at first, if an answer may be lost unnoticed; the transport's deadline if nil.
    ///   - repeats: how often it is sent again after a silence or a refusal, which a lost answer can look like.
    ///   - isExpected: whether an answer is of the requested kind. If it is not, it may have been changed in transit.
    func ask<Message: WireMessage>(
        _ request: Message, on endpoint: Endpoint, within limit: Duration? = nil, repeats: Int = 1,
        isExpected: (Message) -> Bool = { _ in true }
    ) async throws(BoardError) -> Message {
        var (limit, repeats) = (limit, repeats)
        while true {
            let reply: Message?
            do throws(BoardError) {
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

    /// Returns how long to wait for an answer if it can be lost unnoticed. Nil over transports that notice a loss: a Bluetooth link breaks,
    /// and a console shows its prompt.
    func answerLimit(_ limit: Duration) -> Duration? {
        session.restoresLinks || session.mayGarbleAnswers ? nil : limit
    }

    /// Does the same without repeating: returns nil if the connection broke before the answer and a new session is open.
    ///
    /// If an earlier exchange was cancelled before its answer, the session is no longer usable and is first opened again.
    ///
    /// - Parameters:
    ///   - limit: how long to wait for the answer; the transport's deadline if nil.
    ///   - restores: false to leave opening the new session to the caller.
    func askOnce<Message: WireMessage>(
        _ request: Message, on endpoint: Endpoint, within limit: Duration? = nil, restores: Bool = true
    ) async throws(BoardError) -> Message? {
        if await session.state == .outOfStep { try await secureAgain() }
        let answer: [UInt8]
        do throws(BoardError) {
            answer = try await session.request(request.encoded(), on: endpoint, within: limit)
            lastAnswer = time.elapsed()
        } catch {
            guard await survives(error) else {
                if error.code == .noSuchEndpoint, endpoint == .config, hasServedConfig { throw .leaving(peer, error) }
                throw error.withAdvice
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
            // The cipher may be out of step.
            await session.markInvalid()
            if session.mayGarbleAnswers, askAgain(atMost: 2) {
                if restores { try await secureAgain() }
                return nil
            }
            guard !session.mayGarbleAnswers else { throw BoardError.charactersLost("\(error)") }
            var unreadable = BoardError(
                .malformed,
                message: "The board's answer on \(endpoint) cannot be read. Restart the board, then try again.",
                cause: "\(error)")
            unreadable.faultyAnswer = BoardError.unreadable
            throw unreadable
        }
    }

    func pause(_ duration: Duration) async throws(BoardError) {
        do {
            try await time.sleep(duration)
        } catch {
            throw BoardError(.cancelled, message: "Cancelled.")
        }
    }

    public func close() async { await session.end() }
}

/// Boards whose version information does not name their security, such as RainMaker's on-network service. Its TXT record names it.
/// Otherwise the first command of a handshake shows it, which a board with another scheme refuses.
extension ProtocommBoard {
    /// Finds the board's security with first commands. Throws the handshake's error if the board accepts none.
    func unnamedSecurity() async throws(BoardError) -> SecurityRequirement {
        var security: SecurityRequirement
        if let announced {
            security = announced
        } else {
            security = try await probedSecurity()
        }
        // The patch version of protocomm since early 2025; `otherPatch` handles older ones.
        if security.version == 2 { (security.patch, isPatchGuessed) = (1, true) }
        return security
    }

    private func probedSecurity() async throws(BoardError) -> SecurityRequirement {
        // A device that answers in the board's place only gets the public keys of handshakes that are never finished.
        for version in credentials.securityVersion.map({ [$0] }) ?? [1, 2, 0] {
            guard try await takesFirstCommand(of: version) else { continue }
            var needsProof = version == 2
            if version == 1 {
                // A board that needs a proof refuses an empty one, and a known proof is meant for a board that needs it.
                let isExpected = credentials.hasProofOfPossession || credentials.leastSecurity.needsProofOfPossession
                needsProof = if isExpected { true } else { try await !takesNoProof() }
            }
            return SecurityRequirement(version: version, needsProofOfPossession: needsProof)
        }
        throw BoardError(
            .securityMismatch,
            message:
                "The board at \(peer) does not accept a session of Security \(credentials.securityVersion.map { "\($0)" } ?? "0, 1 or 2").",
            remedies: credentials.securityVersion == nil ? [] : [.anySecurity])
    }

    private func takesFirstCommand(of version: Int) async throws(BoardError) -> Bool {
        let probe = FirstCommand(scheme: try probe(version))
        do throws(BoardError) {
            try await session.handshake(probe)
            return true
        } catch {
            // The probe ended it, or the board refused it.
            if error.code == .cipherFailure { return true }
            if error.code == .securityMismatch { return false }
            throw error.withAdvice
        }
    }

    private func takesNoProof() async throws(BoardError) -> Bool {
        let scheme = try probe(1)
        do throws(BoardError) {
            try await session.handshake(scheme)
            return true
        } catch {
            if error.code == .wrongProofOfPossession { return false }
            throw error.withAdvice
        }
    }

    private func probe(_ version: Int) throws(BoardError) -> ClientSecurity<Suite> {
        try SecuritySelection(
            SecurityRequirement(version: version, needsProofOfPossession: false), username: credentials.username,
            secret: nil
        ).scheme(Suite.self, random: &random)
    }

    /// Returns the other patch version after a wrong guess: the board has proved itself, and its nonce has the other length. Neither the
    /// version information nor the TXT record names the patch version.
    func otherPatch(after error: BoardError) -> SecurityRequirement? {
        guard isPatchGuessed, error.code == .securityMismatch, var security = identity?.security else { return nil }
        isPatchGuessed = false
        security.patch = 0
        identity?.security = security
        return security
    }
}

/// A handshake that intentionally ends with the board's answer to its first command.
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

/// Another client that takes the board's only session, and how this client gives way to it.
///
/// If two clients took it back at once, neither would ever get an answer. So each waits first, longer each time and for a random time, and
/// then continues.
struct Contention: Sendable {
    /// How long to continue beside another client.
    static var patience: Duration { .seconds(20) }
    /// The same before any answer, since the device may not be a board.
    static var patienceBeforeAnswer: Duration { .seconds(2) }
    /// Without an eviction for this long, the other client has gone.
    private static var memory: Duration { .seconds(10) }
    /// How often an exchange may be interrupted in which the board may have counted a proof.
    private static var maximumUncertain: Int { 1 }

    private var span: (first: Duration, last: Duration)?
    private var longest = Duration.milliseconds(100)
    private var uncertain = 0

    /// Whether another client was noticed recently.
    func isRecent(_ now: Duration) -> Bool { span.map { now - $0.last <= Self.memory } ?? false }

    /// Returns how long to wait after an eviction; nil if this has continued for too long.
    ///
    /// - Parameters:
    ///   - isCertain: false if a handshake was cut off and the only evidence of another client is the broken connection.
    ///   - isCostly: whether the board may have counted a proof, which must not happen often: better a long wait than a short one.
    ///   - chance: 0 to 255.
    mutating func rest(
        now: Duration, isCertain: Bool, hasAnswered: Bool, isCostly: Bool = false, chance: UInt8
    ) -> Duration? {
        if !isRecent(now) { self = Contention() }
        let first = span?.first ?? now
        span = (first, now)
        if !isCertain { uncertain += 1 }
        guard uncertain <= Self.maximumUncertain,
            now - first < (hasAnswered ? Self.patience : Self.patienceBeforeAnswer)
        else { return nil }
        if isCostly { longest = max(longest, .seconds(1)) }
        defer { longest = min(longest * 2, .seconds(2)) }
        return longest / 4 + longest * 3 / 4 * Int(chance) / 255
    }
}

extension ProtocommBoard {
    /// Waits and returns true; returns false if another client has had the board for too long.
    func waitsForOtherClient(_ error: BoardError) async -> Bool {
        let isCertain = error.endpoint != .session || error.reason != "connection_taken"
        guard
            let rest = contention.rest(
                now: time.elapsed(), isCertain: isCertain, hasAnswered: error.hasAnswered,
                isCostly: error.isProofInDoubt, chance: random.bytes(1).first ?? 0)
        else { return false }
        logger.debug("another client took the session; taking it back", metadata: ["peer": "\(peer)", "in": "\(rest)"])
        // If the task was cancelled, the next exchange throws.
        try? await time.sleep(rest)
        return true
    }
}

extension ProtocommBoard {
    public func send(_ payload: [UInt8], to endpoint: String) async throws(BoardError) -> [UInt8] {
        guard !endpoint.isEmpty else {
            throw BoardError(.invalidArgument, message: "The endpoint's name is empty.")
        }
        let place = Endpoint(name: Array(endpoint.utf8))
        var mayLookAgain = true
        while true {
            do throws(BoardError) {
                return try await session.request(payload, on: place)
            } catch {
                // Nothing was sent.
                guard mayLookAgain, error.reason == BoardError.endpointsUnknown else {
                    throw error.sending(to: endpoint, upTo: session.maximumRequestLength(on: place))
                }
            }
            mayLookAgain = false
            try await secureAgain()
        }
    }
}

extension BoardError {
    /// The limit of a board's own access point, the highest of all transports.
    private static let mostBytes = 4096
    /// The endpoints of `network_provisioning` and `wifi_provisioning`.
    private static let ownEndpoints: Set<String> = [
        "prov-session", "prov-config", "prov-scan", "prov-ctrl", "proto-ver",
    ]

    /// Adds the advice, and the endpoint's name, because the caller chose it and may have misspelt it.
    fileprivate func sending(to endpoint: String, upTo limit: Int?) -> BoardError {
        var error = withAdvice
        if code == .tooLong {
            error.reason = "too_long"
            error.message += " Nothing was sent to the endpoint \(endpoint)."
            if let limit, limit >= Self.mostBytes {
                error.remedies = []
                error.message += " No other transport carries more. Send less data at once."
            }
        } else if code == .noSuchEndpoint {
            error.message =
                "The board at \(peer ?? "") has no endpoint \(endpoint). Check the name that the firmware gives the endpoint "
                + "(network_prov_mgr_endpoint_create)."
        } else if code == .refused, Self.ownEndpoints.contains(endpoint) {
            error.message =
                "The board refused the data for \(endpoint): this endpoint accepts only protocomm's own messages. Name an endpoint of the application."
        } else if error.code != .cancelled, error.faultyAnswer == nil {
            error.message += " The data was for the endpoint \(endpoint)"
            // On a console the firmware prints nothing for an unknown name.
            error.message += code == .refused ? ". The board may not have this endpoint." : "."
        }
        return error
    }
}

extension ProtocommBoard {
    /// The limit for the entries of a scan. Firmware keeps 16 unless it is built for more, at most 255
    /// (`CONFIG_NETWORK_PROV_SCAN_MAX_ENTRIES`). The board reports its number, and a request beyond it drops the connection; this is only
    /// an upper bound.
    private var maximumEntries: UInt32 { 256 }
    /// How many entries fit into an answer over every transport.
    private var page: UInt32 { 4 }

    /// Makes the board scan and reads the results, in pages that never exceed their number.
    ///
    /// The scan runs in the background of the board, one group of channels after the other, so that its access point stays available.
    public func scan() async throws(BoardError) -> [AccessPoint] {
        if identity?.isOnNetwork == true { throw .onNetwork(peer, lacks: "does not scan for other networks") }
        if identity?.joinsThreadOnly == true { throw .joinsThread(peer) }
        let mayBeJoining = try await makeReadyToScan()
        do throws(BoardError) {
            return try await scanNow()
        } catch {
            guard mayBeJoining else { throw error }
            var error = error
            if error.code == .cancelled { error.unfinished = Self.joiningWords }
            if error.remedies == [.networkName] { error.message = "\(Self.joiningWords.asSentence) \(error.message)" }
            throw error
        }
    }

    private static var joiningWords: String {
        "the board does not finish its scan, and refused to forget earlier Wi-Fi settings: most likely it is joining a network"
    }

    private func scanNow() async throws(BoardError) -> [AccessPoint] {
        let start = ScanWiFiStartCommand(isBlocking: false, isPassive: false, groupChannels: 5, periodMilliseconds: 120)
        let started = try await ask(NetworkScanPayload(.commandScanWiFiStart(start)), on: .scan)
        guard started.status == .success else { throw .rejected("the scan", started.status.title) }

        var schedule = PollSchedule.boardStatus
        let began = time.elapsed()
        var count: UInt32 = 0
        while true {
            try await pause(schedule.next())
            let answer = try await ask(NetworkScanPayload(.commandScanWiFiStatus), on: .scan)
            guard answer.status == .success, case .responseScanWiFiStatus(let status)? = answer.payload else {
                throw .unexpectedAnswer(on: .scan)
            }
            count = status.resultCount
            if status.isFinished { break }
            guard time.elapsed() - began < .seconds(30) else {
                throw BoardError(
                    .deviceLost,
                    message: "The board's scan does not end. Restart the board, and try again.",
                    remedies: [.networkName])
            }
        }

        var found: [AccessPoint] = []
        let total = min(count, maximumEntries)
        while UInt32(found.count) < total {
            let index = UInt32(found.count)
            let command = ScanResultCommand(startIndex: index, count: min(page, total - index))
            let answer = try await ask(NetworkScanPayload(.commandScanWiFiResult(command)), on: .scan)
            guard answer.status == .success, case .responseScanWiFiResult(let result)? = answer.payload,
                !result.entries.isEmpty, result.entries.count <= Int(command.count)
            else { throw .unexpectedAnswer(on: .scan) }
            found += result.entries.map { AccessPoint($0) }
        }
        return found.sorted { $0.rssi > $1.rssi }
    }
}

extension AccessPoint {
    init(_ entry: WiFiScanResult) {
        self.init(
            ssid: SSID(Array(entry.ssid.prefix(32))), bssid: Array(entry.bssid.prefix(6)), channel: Int(entry.channel),
            rssi: Int(entry.rssi), protection: NetworkProtection(rawValue: Int(entry.authentication.rawValue)))
    }
}

extension ProtocommBoard {
    /// How long to watch a board without a reset. Firmware waits a second before it uses its radio; a wrong password or an absent network
    /// takes it two more.
    private var firstAttempt: Duration { .seconds(4) }
    /// The same for a board that refused a reset, as boards do that are joining a network; with a weak signal an attempt takes longer.
    private var refusedReset: Duration { .seconds(10) }

    /// Throws `joining` or `rejected` if the board must not scan now.
    ///
    /// Firmware must not scan while it is joining a network, is on one or has failed with one. It then misses the end of the scan, and
    /// never ends another one until it restarts (seen with network_provisioning 1.2.4).
    ///
    /// The status does not show this: before the end of a first attempt it is the same as for a board without settings. A reset does show
    /// it. The board refuses it while it is joining, and returns to the start if it has failed. On a network the reset has no effect.
    ///
    /// Older firmware also refuses a reset at the start (before network_provisioning 1.2.1), or does not support it. Such a board is
    /// watched until a first attempt would have a result, and is scanned if there is none.
    ///
    /// - Returns: whether the board has refused a reset, so that it may still be joining a network.
    func makeReadyToScan() async throws(BoardError) -> Bool {
        let status = try await resetWhereItCan()
        if status == .success { return false }
        let end = time.elapsed() + (status == nil ? firstAttempt : refusedReset)
        while true {
            let now = try await wifiStatus()
            switch (now.state, now.detail) {
            case (.connected, _):
                throw .connected
            case (.connectionFailed, _):
                // The board has reset itself, as RainMaker's firmware does, or does so now.
                _ = try await resetWhereItCan()
                return false
            case (_, .attemptFailed?): throw .joining
            default: break
            }
            guard time.elapsed() < end else { return status != nil }
            try await pause(.milliseconds(500))
        }
    }

    /// Returns the board's answer to a reset; nil if its firmware does not support it.
    private func resetWhereItCan() async throws(BoardError) -> Status? {
        do {
            return try await resetStatus()
        } catch {
            guard [.rejected, .unsupported].contains(error.code) else { throw error }
            logger.debug("board cannot reset before its scan", metadata: ["peer": "\(peer)"])
            return nil
        }
    }
}

extension BoardError {
    /// The error for a provisioning request to a board that is on its network.
    static func onNetwork(_ peer: String, lacks: String) -> BoardError {
        BoardError(
            .unsupported,
            message:
                "The board at \(peer) is already on its network, where it \(lacks). \(toChangeNetwork)"
        )
    }

    /// The advice for a board that accepts no other network. RainMaker's examples have this button.
    static var toChangeNetwork: String {
        "To give the board another network, hold its BOOT button for 3 s, and try again."
    }

    /// The error for a scan of a board that has joined its network, and still runs its provisioning service.
    fileprivate static var connected: BoardError {
        var error = BoardError(
            .rejected, message: "The board is already on a network, and does not scan for others. \(toChangeNetwork)")
        error.isOnNetwork = true
        return error
    }

    fileprivate static var joining: BoardError {
        BoardError(
            .joining,
            message:
                "The board is joining a network that it received before. A scan would stop the joining until the board restarts. Try "
                + "again in a moment.", remedies: [.networkName])
    }
}

extension ProtocommBoard {
    /// The firmware's own limits: it builds the mapping message in a 200-byte buffer (esp-rainmaker, user mapping).
    static var maximumMappingBytes: Int { 150 }

    public func associate(_ request: AssociationRequest) async throws(BoardError) -> AssociationReply {
        do {
            switch request {
            case .userMapping(let user, let secret): return try await setUserMapping(user, secret)
            case .challenge(let challenge): return try await sign(challenge)
            }
        } catch {
            // Not an endpoint that the transport cannot address.
            guard error.code == .unsupported, error.remedies.isEmpty else { throw error }
            if identity?.isOnNetwork == true {
                throw BoardError(
                    .notRainMaker,
                    message:
                        "The board at \(peer) is already on its network, and its firmware has no endpoint for adding it to an "
                        + "account there (ch_resp). Reset it to factory settings and provision it again.",
                    cause: error.cause)
            }
            throw BoardError(
                .notRainMaker,
                message:
                    "The board has no RainMaker endpoint, so it cannot be added to an account. Only its Wi-Fi can be set up.",
                cause: error.cause, remedies: [.withoutMapping])
        }
    }

    private func setUserMapping(
        _ user: UserID, _ secret: MappingSecret
    ) async throws(BoardError) -> AssociationReply {
        guard user.rawValue.utf8.count + secret.secret.count <= Self.maximumMappingBytes else {
            throw BoardError(.invalidArgument, message: "The user id is too long for a board.")
        }
        let nodeID = try await tell(user, secret)
        toldUser = (user, secret)
        return AssociationReply(nodeID: nodeID)
    }

    /// Sends the user and secret again if another session sent them. A restart is one of the reasons for a new session, and the board keeps
    /// them only in memory.
    ///
    /// - Returns: whether they were sent.
    @discardableResult
    func tellUserAgain() async throws(BoardError) -> Bool {
        guard let (user, secret) = toldUser, toldInSession != sessions else { return false }
        logger.debug("new session; sending the board its user again", metadata: ["peer": "\(peer)"])
        _ = try await tell(user, secret)
        return true
    }

    private func tell(_ user: UserID, _ secret: MappingSecret) async throws(BoardError) -> NodeID {
        let command = SetUserMappingCommand(userID: Array(user.rawValue.utf8), secretKey: secret.secret.revealBytes())
        let answer = try await ask(UserMappingPayload(.commandSetUserMapping(command)), on: .userMapping)
        guard case .responseSetUserMapping(let response)? = answer.payload else {
            throw .unexpectedAnswer(on: .userMapping)
        }
        guard response.status == .success else { throw .rejected("the user mapping", response.status.title) }
        // The answer came in the current session.
        toldInSession = sessions
        return try nodeID(response.nodeID)
    }

    private func sign(_ challenge: [UInt8]) async throws(BoardError) -> AssociationReply {
        let command = ChallengeCommand(payload: challenge)
        let answer = try await ask(
            ChallengeResponsePayload(.commandChallengeResponse(command)), on: .challengeResponse)
        if answer.status == .disabled {
            throw BoardError(
                .rejected,
                message: identity?.isOnNetwork == true
                    ? "The board does not answer challenges now, probably because it was added to an account. To add the board to another "
                        + "account, restart it."
                    : "The board does not answer challenges now. Reset it to factory settings.",
                reason: "challenge_disabled")
        }
        guard answer.status == .success else { throw .rejected("the challenge", answer.status.title) }
        guard case .responseChallengeResponse(let response)? = answer.payload, !response.payload.isEmpty else {
            throw .unexpectedAnswer(on: .challengeResponse)
        }
        return AssociationReply(nodeID: try nodeID(response.nodeID), signature: response.payload)
    }

    /// Makes a board on its network refuse further challenges, as Espressif's own client does.
    public func endAssociation() async throws(BoardError) {
        guard identity?.isOnNetwork == true else { return }
        let answer = try await ask(ChallengeResponsePayload(.commandDisableChallengeResponse), on: .challengeResponse)
        // A board that already refuses them answers `disabled`.
        guard answer.status == .success || answer.status == .disabled else {
            throw .rejected("the end of the association", answer.status.title)
        }
    }

    /// Node ids are opaque text of printable ASCII characters.
    private func nodeID(_ bytes: [UInt8]) throws(BoardError) -> NodeID {
        guard (1...64).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw BoardError(
                .malformed, message: "The board did not report a node id. It may not have been claimed.")
        }
        return NodeID(String(decoding: bytes, as: UTF8.self))
    }
}
