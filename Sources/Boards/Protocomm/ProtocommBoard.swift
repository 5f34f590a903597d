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

/// Another client that takes the board's one session, and how this one gives way to it.
///
/// Two that take it back at once would keep each other from ever getting an answer. So each stays away for a while first, longer each time
/// and by chance, and then goes on where it was.
struct Contention: Sendable {
    /// How long to go on beside another client.
    static var patience: Duration { .seconds(20) }
    /// The same where nothing there has answered yet, and it may be no board at all.
    static var patienceBeforeAnswer: Duration { .seconds(2) }
    /// With no eviction for so long, the other client has gone.
    private static var memory: Duration { .seconds(10) }
    /// Proofs may have been counted by the board each time.
    private static var maximumUncertain: Int { 1 }

    private var span: (first: Duration, last: Duration)?
    private var longest = Duration.milliseconds(100)
    private var uncertain = 0

    /// Whether another client was noticed not long ago.
    func isRecent(_ now: Duration) -> Bool { span.map { now - $0.last <= Self.memory } ?? false }

    /// How long to stay away after an eviction; nil where this has gone on for too long.
    ///
    /// - Parameters:
    ///   - isCertain: false where a handshake was cut off and nothing but the broken connection speaks of another client.
    ///   - isCostly: where the board may have counted a proof, which it does not do often: better late than soon.
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
    /// Stays away for a while and returns true; false where another client has had the board for too long.
    func waitsForOtherClient(_ error: ProtocommError) async -> Bool {
        let isCertain = error.endpoint != .session || error.cause?.reason != "connection_taken"
        guard
            let rest = contention.rest(
                now: time.elapsed(), isCertain: isCertain, hasAnswered: error.hasAnswered,
                isCostly: error.isProofInDoubt, chance: random.bytes(1).first ?? 0)
        else { return false }
        logger.debug("another client took the session; taking it back", metadata: ["peer": "\(peer)", "in": "\(rest)"])
        // Where the task was cancelled, the next exchange says so.
        try? await time.sleep(rest)
        return true
    }
}

extension ProtocommBoard {
    public func send(_ payload: [UInt8], to endpoint: String) async throws(ProvisioningError) -> [UInt8] {
        let place = Endpoint(name: Array(endpoint.utf8))
        do throws(ProtocommError) {
            return try await session.request(payload, on: place)
        } catch {
            throw ProvisioningError(error, sendingTo: endpoint, upTo: session.maximumRequestLength(on: place))
        }
    }
}

extension ProvisioningError {
    /// What a board's own access point carries: no transport carries more.
    private static let mostBytes = 4096

    /// The endpoint is named, since it is the caller's own: no other one fails for being misspelt.
    fileprivate init(_ error: ProtocommError, sendingTo endpoint: String, upTo limit: Int?) {
        self.init(error)
        if error.code == .tooLong {
            reason = "too_long"
            message += " Nothing was sent to its endpoint \(endpoint)."
            if let limit, limit >= Self.mostBytes {
                remedies = []
                message += " No other transport carries more: send less at once."
            }
        } else if error.code == .noSuchEndpoint {
            message =
                "The board at \(error.peer) has no endpoint \(endpoint): check the name, which the firmware gives it "
                + "(network_prov_mgr_endpoint_create)."
        } else if code != .cancelled {
            message += " It was sent data for its endpoint \(endpoint)"
            // On a console the firmware says nothing of a name that it does not know.
            message += error.code == .refused ? ", which it may not have." : "."
        }
    }
}

extension ProtocommBoard {
    /// Firmware keeps 16 entries of a scan unless it is built for more, at most 255 (`CONFIG_NETWORK_PROV_SCAN_MAX_ENTRIES`). What counts
    /// is what it says that it has, since asking beyond that drops the connection; this only bounds it.
    private var maximumEntries: UInt32 { 256 }
    /// How many entries fit in an answer on every transport.
    private var page: UInt32 { 4 }

    /// Has the board look around and reads what it found, in pages that never ask for more than there is.
    ///
    /// The scan runs in the background of the board, channel group by channel group, so that its access point stays alive.
    public func scan() async throws(ProvisioningError) -> [AccessPoint] {
        try await makeReadyToScan()
        let start = ScanWiFiStartCommand(isBlocking: false, isPassive: false, groupChannels: 5, periodMilliseconds: 120)
        let started = try await ask(NetworkScanPayload(.commandScanWiFiStart(start)), on: .scan)
        guard started.status == .success else { throw .rejected("the scan", status: started.status.rawValue) }

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
                throw ProvisioningError(
                    .deviceLost,
                    message: "The board's scan does not end. Restart the board, or name the network.",
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
    /// How long a board without a reset is watched. Firmware waits a second before it moves its radio; a wrong password or an absent
    /// network takes it two more.
    private var firstAttempt: Duration { .seconds(4) }
    /// The same for a board that refused a reset, as those do that join a network; a weak signal takes the attempt longer.
    private var refusedReset: Duration { .seconds(10) }

    /// Throws `joining` or `rejected` where the board must not be asked to scan.
    ///
    /// Firmware loses the end of a scan that begins while it joins a network, is on one or has failed with one, and never ends another
    /// until it restarts (seen with network_provisioning 1.2.4). Its status does not tell: before a first attempt has ended it is that of
    /// a board that was told nothing. A reset does: it is refused while the board joins, takes one that has failed back to its start, and
    /// does nothing to one that is there.
    ///
    /// Older firmware refuses it at the start, too (network_provisioning before 1.2.1), or cannot reset at all. Such a board is watched
    /// until a first attempt would have come to something, and is scanned where nothing did.
    func makeReadyToScan() async throws(ProvisioningError) {
        let status = try await resetWhereItCan()
        if status == .success { return }
        let end = time.elapsed() + (status == nil ? firstAttempt : refusedReset)
        while true {
            let now = try await wifiStatus()
            switch (now.state, now.detail) {
            case (.connected, _):
                throw ProvisioningError(
                    .rejected,
                    message:
                        "The board is on a network already and cannot look for others. Reset it to factory settings to give it "
                        + "another.")
            case (.connectionFailed, _):
                // It has reset itself, as RainMaker's firmware does, or does so now.
                _ = try await resetWhereItCan()
                return
            case (_, .attemptFailed?): throw .joining
            default: break
            }
            guard time.elapsed() < end else { return }
            try await pause(.milliseconds(500))
        }
    }

    /// The board's answer to a reset; nil where its firmware has none.
    private func resetWhereItCan() async throws(ProvisioningError) -> Status? {
        do {
            return try await resetStatus()
        } catch {
            guard [.rejected, .unsupported].contains(error.code) else { throw error }
            logger.debug("board cannot reset before its scan", metadata: ["peer": "\(peer)"])
            return nil
        }
    }
}

extension ProvisioningError {
    fileprivate static var joining: ProvisioningError {
        ProvisioningError(
            .joining,
            message:
                "The board is joining a network that it was given before, and to look for others meanwhile would keep it from that "
                + "until it restarts. Try again in a moment.", remedies: [.networkName])
    }
}

extension ProtocommBoard {
    /// The firmware's own limits: it builds the mapping message in a 200-byte buffer (esp-rainmaker, user mapping).
    static var maximumMappingBytes: Int { 150 }

    public func associate(_ request: AssociationRequest) async throws(ProvisioningError) -> AssociationReply {
        do {
            switch request {
            case .userMapping(let user, let secret): return try await setUserMapping(user, secret)
            case .challenge(let challenge): return try await sign(challenge)
            }
        } catch {
            // Not one that the transport cannot carry the message to.
            guard error.code == .unsupported, error.remedies.isEmpty else { throw error }
            throw ProvisioningError(
                .notRainMaker,
                message:
                    "The board has no RainMaker endpoint, so it cannot be put into an account. Its Wi-Fi alone can be set up.",
                cause: error.cause, remedies: [.withoutMapping])
        }
    }

    private func setUserMapping(
        _ user: UserID, _ secret: MappingSecret
    ) async throws(ProvisioningError) -> AssociationReply {
        guard user.rawValue.utf8.count + secret.secret.count <= Self.maximumMappingBytes else {
            throw ProvisioningError(.invalidArgument, message: "The user id is too long for a board to keep.")
        }
        let nodeID = try await tell(user, secret)
        toldUser = (user, secret)
        return AssociationReply(nodeID: nodeID)
    }

    /// Tells a board whose it is once more where it was told in another session: it keeps that in memory only, and a restart is one of the
    /// things that end a session.
    ///
    /// - Returns: whether it was told.
    @discardableResult
    func tellUserAgain() async throws(ProvisioningError) -> Bool {
        guard let (user, secret) = toldUser, toldInSession != sessions else { return false }
        logger.debug("the session is another; telling the board its user again", metadata: ["peer": "\(peer)"])
        _ = try await tell(user, secret)
        return true
    }

    private func tell(_ user: UserID, _ secret: MappingSecret) async throws(ProvisioningError) -> NodeID {
        let command = SetUserMappingCommand(userID: Array(user.rawValue.utf8), secretKey: secret.secret.revealBytes())
        let answer = try await ask(UserMappingPayload(.commandSetUserMapping(command)), on: .userMapping)
        guard case .responseSetUserMapping(let response)? = answer.payload else {
            throw .unexpectedAnswer(on: .userMapping)
        }
        guard response.status == .success else { throw .rejected("the user mapping", status: response.status.rawValue) }
        // The answer came in the session of now.
        toldInSession = sessions
        return try nodeID(response.nodeID)
    }

    private func sign(_ challenge: [UInt8]) async throws(ProvisioningError) -> AssociationReply {
        let command = ChallengeCommand(payload: challenge)
        let answer = try await ask(
            ChallengeResponsePayload(.commandChallengeResponse(command)), on: .challengeResponse)
        if answer.status == .disabled {
            throw ProvisioningError(
                .rejected,
                message: identity?.isOnNetwork == true
                    ? "The board has challenge and response switched off, as after it was put into an account. Restart it if it is to be "
                        + "put into another one."
                    : "The board has challenge and response switched off. Reset it to factory settings.",
                reason: "challenge_disabled")
        }
        guard answer.status == .success else { throw .rejected("the challenge", status: answer.status.rawValue) }
        guard case .responseChallengeResponse(let response)? = answer.payload, !response.payload.isEmpty else {
            throw .unexpectedAnswer(on: .challengeResponse)
        }
        return AssociationReply(nodeID: try nodeID(response.nodeID), signature: response.payload)
    }

    /// Tells a board on its network to take no challenge any more, as Espressif's own client does.
    public func endAssociation() async throws(ProvisioningError) {
        guard identity?.isOnNetwork == true else { return }
        let answer = try await ask(ChallengeResponsePayload(.commandDisableChallengeResponse), on: .challengeResponse)
        // One that is disabled already says so.
        guard answer.status == .success || answer.status == .disabled else {
            throw .rejected("the end of its association", status: answer.status.rawValue)
        }
    }

    /// Node ids are opaque text; anything that is not printable ASCII is not one.
    private func nodeID(_ bytes: [UInt8]) throws(ProvisioningError) -> NodeID {
        guard (1...64).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ProvisioningError(.malformed, message: "The board did not say a node id. Has it been claimed?")
        }
        return NodeID(String(decoding: bytes, as: UTF8.self))
    }
}
