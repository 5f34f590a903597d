// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommCore
import RainIO
import Synchronization

/// A session with one board. It encrypts requests and sends them one at a time, in the order of the calls.
///
/// A caller that is cancelled while it waits for its turn sends nothing and affects no other caller. An exchange that fails or is cancelled
/// after its request may have left puts the two ends out of step, because their ciphers count messages. Every later request then throws
/// `handshakeNeeded` until ``handshake(_:)`` has run again. The same transport allows that at any time.
public actor ProtocommSession {
    /// The current state of a session.
    public enum State: Sendable, Equatable {
        /// No handshake yet.
        case clear
        /// A handshake has succeeded. Requests go through its cipher, which under Security 0 leaves them in clear.
        case secured
        /// A lost exchange put the two ends out of step.
        case outOfStep
        /// An exchange or a handshake is under way; further requests wait until it is done.
        case busy
        /// ``ProtocommSession/end()`` was called; every request throws `ended`.
        case ended
    }

    /// The board's name, from the transport.
    public nonisolated let peer: String
    let transport: any Transport
    let clock: any Clock<Duration>
    let deadlines: ExchangeDeadlines
    let logger: Logger

    var turn = SessionTurn()
    var continuations: [Int: CheckedContinuation<SessionLink?, Never>] = [:]
    var hasAnswered = false

    /// - Parameters:
    ///   - clock: measures deadlines.
    ///   - deadlines: nil uses the transport's own.
    public init(
        transport: any Transport, clock: any Clock<Duration> = ContinuousClock(), deadlines: ExchangeDeadlines? = nil,
        logger: Logger = Logger(label: "protocomm") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.transport = transport
        self.clock = clock
        self.deadlines = deadlines ?? transport.deadlines
        self.logger = logger
        peer = transport.peer
    }

    /// The session's current state. It may change before the caller acts on it.
    public var state: State {
        if turn.isEnded { return .ended }
        return switch turn.link {
        case .clear: .clear
        case .secured, .unsent: .secured
        case .outOfStep: .outOfStep
        case nil: .busy
        }
    }

    /// See ``Transport/restoresLinks``.
    public nonisolated var restoresLinks: Bool { transport.restoresLinks }

    /// See ``Transport/mayGarbleAnswers``.
    public nonisolated var mayGarbleAnswers: Bool { transport.mayGarbleAnswers }

    /// Returns the maximum length of a request in bytes on this transport, including the cipher's overhead; nil if there is no limit.
    public nonisolated func maximumRequestLength(on endpoint: Endpoint) -> Int? {
        transport.maximumRequestLength(on: endpoint)
    }

    /// How many callers are waiting for their turn.
    package var waitingCount: Int { turn.waiting.count }

    /// Sends `payload` encrypted and returns the decrypted answer.
    ///
    /// Throws `handshakeNeeded` if there is no session, and the other codes of ``BoardError``.
    ///
    /// - Parameter limit: how long to wait for the answer; ``ExchangeDeadlines/exchange`` if nil.
    public func request(
        _ payload: [UInt8], on endpoint: Endpoint, within limit: Duration? = nil
    ) async throws(BoardError) -> [UInt8] {
        let link = try await takeTurn(endpoint)
        var next = SessionLink.outOfStep
        defer { passTurn(next) }

        var cipher: any SessionCipher
        let sealed: [UInt8]
        switch link {
        case .clear, .outOfStep:
            next = link
            throw failure(
                .handshakeNeeded, endpoint, "There is no session for this request. Perform the handshake first.")
        case .secured(let current):
            next = link
            try checkLength(payload.count, endpoint)
            cipher = current
            next = .outOfStep
            sealed = try cipherStep(endpoint) { () throws(CipherError) in try cipher.encrypt(payload) }
        case .unsent(let current, let plaintext, let bytes):
            guard plaintext == payload else {
                throw failure(
                    .handshakeNeeded, endpoint,
                    "An earlier request was encrypted but not sent, so no other request can follow. Repeat the handshake."
                )
            }
            cipher = current
            sealed = bytes
        }

        let answer: [UInt8]
        do {
            answer = try await exchange(sealed, on: endpoint, within: limit ?? deadlines.exchange)
        } catch {
            if error.neverReachedTheCipher { next = .unsent(cipher, plaintext: payload, sealed: sealed) }
            throw refine(error)
        }
        do throws(CipherError) {
            let plaintext = try cipher.decrypt(answer)
            next = .secured(cipher)
            return plaintext
        } catch {
            throw undecryptable(answer, endpoint, error)
        }
    }

    /// Returns the board's answer on `proto-ver`, which is in clear and needs no session. A running session is not affected.
    public func versionInfo() async throws(BoardError) -> [UInt8] {
        let link = try await takeTurn(.version)
        defer { passTurn(link) }
        do {
            // Any body works if it is not empty; the official tools send three dashes.
            return try await exchange(Array("---".utf8), on: .version, within: deadlines.exchange)
        } catch {
            throw refine(error)
        }
    }

    /// Invalidates the session after an answer that makes no sense, since the two ends are most likely out of step. Only a new handshake
    /// helps.
    public func markInvalid() async {
        guard let link = try? await takeTurn(.session) else { return }
        if case .clear = link { passTurn(link) } else { passTurn(.outOfStep) }
    }

    /// Returns a board's answer on `proto-ver` without keeping a session.
    public static func versionInfo(of transport: any Transport) async throws(BoardError) -> [UInt8] {
        try await ProtocommSession(transport: transport).versionInfo()
    }

    /// Establishes the session, or replaces the existing one. After a failure there is no session.
    ///
    /// Throws `securityMismatch` if the board refuses the first command of this scheme, or the transport cannot carry it. Throws
    /// `wrongProofOfPossession` if the board refuses the second command, or cannot prove itself.
    public func handshake<Scheme: SecurityScheme>(_ scheme: Scheme) async throws(BoardError) {
        let previous = try await takeTurn(.session)
        var next = previous
        defer { passTurn(next) }

        var scheme = scheme
        var round = 1
        var step = try handshakeStep(round) { () throws(HandshakeError) in try scheme.start() }
        while case .send(let bytes) = step {
            guard round <= Self.maximumRounds else {
                throw failure(
                    .securityMismatch, .session, "The handshake did not finish within \(Self.maximumRounds) rounds.")
            }
            if let limit = transport.maximumRequestLength(on: .session), bytes.count > limit {
                throw failure(
                    .securityMismatch, .session,
                    "The board uses \(scheme.title), which needs a message of \(bytes.count) bytes, but \(transport.carrier) carries at most \(limit). "
                        + "Use another transport, or firmware with Security 1.")
            }
            let answer: [UInt8]
            do {
                answer = try await exchange(bytes, on: .session, within: deadlines.handshake)
            } catch {
                if !error.neverReachedTheCipher { next = .outOfStep }
                throw refineHandshake(error, round: round)
            }
            next = .outOfStep
            logger.debug("handshake step", metadata: ["peer": "\(peer)", "step": "\(round)"])
            step = try handshakeStep(round, scheme.title, answer) { () throws(HandshakeError) in
                try scheme.receive(answer)
            }
            round += 1
        }
        let cipher = try handshakeStep(round) { () throws(HandshakeError) in try scheme.finish() }
        next = .secured(cipher)
    }

    /// Ends the session: waiting callers throw `ended`, a running exchange is cancelled, and the transport is closed.
    public func end() async {
        guard !turn.isEnded else { return }
        for ticket in turn.end() { continuations.removeValue(forKey: ticket)?.resume(returning: nil) }
        await transport.close()
    }

    /// No scheme of protocomm has more than two rounds.
    static let maximumRounds = 4
}

extension ProtocommSession {
    func exchange(
        _ request: [UInt8], on endpoint: Endpoint, within limit: Duration
    ) async throws(BoardError) -> [UInt8] {
        let (transport, clock) = (transport, clock)
        let cut = Mutex<BoardError?>(nil)
        let start = ContinuousClock.now
        func log(_ message: Logger.Message, _ result: Logger.Metadata) {
            let milliseconds = Int(start.duration(to: .now) / .milliseconds(1))
            let metadata: Logger.Metadata = [
                "peer": "\(peer)", "endpoint": "\(endpoint)", "sent": .stringConvertible(request.count),
                "ms": .stringConvertible(milliseconds),
            ]
            logger.debug(message, metadata: metadata.merging(result) { $1 })
        }
        let outcome = await withDeadline(limit, sleep: { try await clock.sleep(for: $0) }) {
            () async throws(BoardError) in
            do throws(BoardError) {
                return try await transport.exchange(request, on: endpoint)
            } catch {
                if error.reason == BoardError.answerCut { cut.withLock { $0 = error } }
                throw error
            }
        }
        let partial = cut.withLock { $0 }
        switch outcome {
        case .success(let answer)?:
            hasAnswered = true
            log("exchange", ["bytes": .stringConvertible(answer.count)])
            return answer
        case .failure? where Task.isCancelled:
            // Always `cancelled`, whatever the transport throws: no caller should reconnect because of a cancellation.
            var cancelled = BoardError(
                .cancelled, endpoint: endpoint, peer: peer, message: "The exchange was cancelled.",
                reason: partial?.reason)
            cancelled.unfinished = partial?.unfinished
            throw cancelled
        case .failure(let error)?:
            log("exchange failed", ["cause": "\(error.code)"])
            throw error
        case nil:
            log("exchange failed", ["cause": "timeout"])
            throw BoardError(
                .timeout, endpoint: endpoint, peer: peer,
                // Before its first answer nothing shows that it is a board.
                message: partial?.message
                    ?? "The \(hasAnswered ? "board" : "device") at \(peer) did not answer within \(limit).",
                reason: partial?.reason)
        }
    }

    func checkLength(_ count: Int, _ endpoint: Endpoint) throws(BoardError) {
        guard let limit = transport.maximumRequestLength(on: endpoint), count > limit else { return }
        throw failure(
            .tooLong, endpoint,
            "The request has \(count) bytes, which is more than \(transport.carrier) carries (\(limit)).")
    }

    func cipherStep(
        _ endpoint: Endpoint, _ body: () throws(CipherError) -> [UInt8]
    ) throws(BoardError) -> [UInt8] {
        do throws(CipherError) {
            return try body()
        } catch {
            throw failure(
                .cipherFailure, endpoint,
                "The request for \(endpoint) could not be encrypted on this side (\(error)). Repeat the handshake.")
        }
    }

    /// Describes an answer that cannot be decrypted. Clear text comes from firmware that has no session, or from a device in between.
    func undecryptable(_ answer: [UInt8], _ endpoint: Endpoint, _ error: CipherError) -> BoardError {
        let isText = answer.allSatisfy { (0x20...0x7E).contains($0) || (0x09...0x0D).contains($0) }
        return failure(
            .cipherFailure, endpoint,
            isText
                ? "The board's answer on \(endpoint) (\(answer.count) bytes) is not encrypted, but it must be. Restart the "
                    + "board, then try again."
                : "The board's answer on \(endpoint) cannot be decrypted: it was changed in transit, or belongs to another session "
                    + "(\(error)). Restart the board, then try again.")
    }
}

extension ProtocommSession {
    func takeTurn(_ endpoint: Endpoint) async throws(BoardError) -> SessionLink {
        guard !Task.isCancelled else { throw cancelled(endpoint) }
        let ticket: Int
        switch turn.enter() {
        case .granted(let link): return link
        case .ended: throw ended(endpoint)
        case .wait(let number): ticket = number
        }
        let link = await withTaskCancellationHandler {
            await withCheckedContinuation { continuations[ticket] = $0 }
        } onCancel: {
            // Nobody awaits this task. It only removes a ticket, and does nothing if the ticket has had its turn.
            Task { await self.abandon(ticket) }
        }
        guard let link else { throw turn.isEnded ? ended(endpoint) : cancelled(endpoint) }
        guard !Task.isCancelled else {
            passTurn(link)
            throw cancelled(endpoint)
        }
        return link
    }

    func passTurn(_ link: SessionLink) {
        guard let ticket = turn.leave(link) else { return }
        continuations.removeValue(forKey: ticket)?.resume(returning: link)
    }

    func abandon(_ ticket: Int) {
        guard turn.abandon(ticket) else { return }
        continuations.removeValue(forKey: ticket)?.resume(returning: nil)
    }
}

/// The state that the two ends share between exchanges.
enum SessionLink: Sendable {
    /// No handshake yet: only messages in clear may be sent.
    case clear
    /// Both ends are in step.
    case secured(any SessionCipher)
    /// In step, except for one encrypted message that provably never reached the board's cipher. Each cipher counts the messages that it
    /// has encrypted, so only sending these same bytes keeps the two ends in step.
    case unsent(any SessionCipher, plaintext: [UInt8], sealed: [UInt8])
    /// An exchange was lost half way, so the other end's count is unknown.
    case outOfStep
}

/// Decides which caller may use the session. It is a value, so that the order is decided in one place; ``ProtocommSession`` does the
/// waiting. It is not a `FairLock`: the link passes from turn to turn, and its end wakes every caller at once.
struct SessionTurn: Sendable {
    private enum State: Sendable {
        case idle(SessionLink)
        case busy
        case ended
    }

    enum Entry: Sendable {
        case granted(SessionLink)
        case wait(ticket: Int)
        case ended
    }

    private var state = State.idle(.clear)
    private var nextTicket = 0
    private(set) var waiting: [Int] = []

    var isEnded: Bool { if case .ended = state { true } else { false } }
    var link: SessionLink? { if case .idle(let link) = state { link } else { nil } }

    /// Requests the session. Callers that have to wait are served in the order of their tickets.
    mutating func enter() -> Entry {
        switch state {
        case .idle(let link):
            state = .busy
            return .granted(link)
        case .busy:
            defer { nextTicket += 1 }
            waiting.append(nextTicket)
            return .wait(ticket: nextTicket)
        case .ended:
            return .ended
        }
    }

    /// Returns the ticket of the next caller, who may use the session now; nil if none is waiting.
    mutating func leave(_ link: SessionLink) -> Int? {
        guard case .busy = state else { return nil }
        guard waiting.isEmpty else { return waiting.removeFirst() }
        state = .idle(link)
        return nil
    }

    /// Removes a waiting ticket; returns false if it is not waiting (any more).
    mutating func abandon(_ ticket: Int) -> Bool {
        guard let index = waiting.firstIndex(of: ticket) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Ends the session and returns the tickets of the callers that must be woken.
    mutating func end() -> [Int] {
        state = .ended
        defer { waiting = [] }
        return waiting
    }
}

extension ProtocommSession {
    func handshakeStep<Value>(
        _ round: Int, _ title: String = "this scheme", _ answer: [UInt8] = [],
        _ body: () throws(HandshakeError) -> Value
    ) throws(BoardError) -> Value {
        do throws(HandshakeError) {
            return try body()
        } catch {
            switch error {
            case .proofMismatch:
                throw wrongProof("The board did not show that it knows the given proof of possession.")
            case .rejected(let status) where status == Status.tooManySessions.rawValue:
                throw failure(.busy, .session, Self.refusal(error, round, title, answer))
            case .versionMismatch, .malformed, .rejected, .unsafePublicKey:
                throw failure(.securityMismatch, .session, Self.refusal(error, round, title, answer))
            case .invalidParameters, .notEstablished, .cryptoFailure:
                throw failure(.cipherFailure, .session, "The handshake failed on this side (\(error)).")
            }
        }
    }

    private static func refusal(
        _ error: HandshakeError, _ round: Int, _ title: String, _ answer: [UInt8]
    ) -> String {
        let advice =
            "Restart the board, then try again, or use the security scheme that the board reports in its version information."
        let step = "step \(round) of the handshake"
        switch error {
        case .rejected(let status) where status == Status.tooManySessions.rawValue:
            return
                "The board has too many sessions (status 3): another program or app is using the board. Close the other program or app, "
                + "then try again."
        case .unsafePublicKey:
            return "The board sent a public key in \(step) that is not safe to use, such as zeros. \(advice)"
        case .versionMismatch: return "The board answered \(step) in a security scheme other than \(title). \(advice)"
        case .rejected(let status):
            return
                "The board rejected \(step) of \(title): it answered with \(Status(rawValue: status).title). \(advice)"
        default:
            if answer.first == UInt8(ascii: "<") {
                return
                    "The board, or another server at its address, answered \(step) with a web page. Check the board's address."
            }
            return
                "The board's answer to \(step) cannot be read as \(title): it is damaged, or of another scheme (\(error)). \(advice)"
        }
    }

    func refineHandshake(_ error: BoardError, round: Int) -> BoardError {
        if error.code == .tooLong {
            return failure(
                .securityMismatch, .session,
                "The messages of Security 2 are longer than the board accepts over this transport. Use another transport, or "
                    + "firmware with Security 1.", of: error)
        }
        guard error.code == .refused else {
            var failure = refine(error)
            failure.isProofInDoubt = round > 1 && !error.neverReachedTheCipher
            return failure
        }
        if round == 1, error.reason == BoardError.emptyAnswer {
            return failure(
                .securityMismatch, .session,
                "The board's answer to step 1 of the handshake is empty. Restart the board, then try again. If that does not help, "
                    + "update its firmware.", of: error)
        }
        guard round > 1 else {
            return failure(
                .securityMismatch, .session,
                "The board refused the first command of this security scheme. Use the security scheme that the board reports in its "
                    + "version information.",
                of: error)
        }
        return wrongProof(
            "The board refused the proof of possession. Check it on the board's label or QR code. "
                + "After five wrong proofs, a RainMaker board stops provisioning until you restart it.", of: error)
    }

    func wrongProof(_ message: String, of exchange: BoardError? = nil) -> BoardError {
        failure(.wrongProofOfPossession, .session, message, of: exchange)
    }

    func refine(_ error: BoardError) -> BoardError {
        turn.isEnded ? ended(error.endpoint) : error.inSession(with: peer, hasAnswered: hasAnswered)
    }

    func failure(
        _ code: BoardError.Code, _ endpoint: Endpoint?, _ message: String, of exchange: BoardError? = nil
    ) -> BoardError {
        var error = BoardError(code, endpoint: endpoint, peer: peer, message: message, reason: exchange?.reason)
        error.transportCode = exchange?.code
        error.hasAnswered = hasAnswered
        return error
    }

    func cancelled(_ endpoint: Endpoint) -> BoardError {
        failure(.cancelled, endpoint, "The request was cancelled before it was sent.")
    }

    func ended(_ endpoint: Endpoint?) -> BoardError {
        failure(.ended, endpoint, "The session has ended.")
    }
}
