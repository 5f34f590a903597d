// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommCore
import RainIO

/// A conversation with one board: what is asked goes out encrypted, one exchange at a time, in the order of asking.
///
/// A cancelled caller that still waits for its turn never sends and disturbs nobody. An exchange that is cancelled, or fails,
/// after its request may have left puts the two ends out of step, because their ciphers count messages; every later request
/// throws `handshakeNeeded` until ``handshake(_:)`` has run again, which the same transport allows at any time.
public actor ProtocommSession {
    /// What a session can do right now.
    public enum State: Sendable, Equatable {
        /// No handshake yet.
        case clear
        /// A handshake has succeeded: requests go through its cipher, which under Security 0 leaves them in clear.
        case secured
        /// A lost exchange put the two ends out of step.
        case outOfStep
        /// An exchange or a handshake is under way; further requests wait until it is done.
        case busy
        /// ``ProtocommSession/end()`` was called; every request throws `ended`.
        case ended
    }

    /// The board's name, as the transport gives it.
    public nonisolated let peer: String
    let transport: any Transport
    let clock: any Clock<Duration>
    let deadlines: ExchangeDeadlines
    let logger: Logger

    var turn = SessionTurn()
    var continuations: [Int: CheckedContinuation<SessionLink?, Never>] = [:]
    var hasAnswered = false

    /// - Parameters:
    ///   - clock: what deadlines are measured with.
    ///   - deadlines: nil takes what the transport prefers.
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

    /// What the session can do at this moment. It may change before the caller acts on it.
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

    /// The longest request in bytes that fits through the transport, what the cipher adds included; nil where there is no limit.
    public nonisolated func maximumRequestLength(on endpoint: Endpoint) -> Int? {
        transport.maximumRequestLength(on: endpoint)
    }

    /// How many callers wait for their turn.
    package var waitingCount: Int { turn.waiting.count }

    /// Sends `payload` encrypted and returns the decrypted answer.
    ///
    /// Throws `handshakeNeeded` where there is no session to encrypt with, and the codes of ``ProtocommError``.
    ///
    /// - Parameter limit: how long to wait for the answer; ``ExchangeDeadlines/exchange`` if nil.
    public func request(
        _ payload: [UInt8], on endpoint: Endpoint, within limit: Duration? = nil
    ) async throws(ProtocommError) -> [UInt8] {
        let link = try await takeTurn(endpoint)
        var next = SessionLink.outOfStep
        defer { passTurn(next) }

        var cipher: any SessionCipher
        let sealed: [UInt8]
        switch link {
        case .clear, .outOfStep:
            next = link
            throw failure(.handshakeNeeded, endpoint, "There is no session to send this in; shake hands first.")
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
                    "An earlier request never left, and this is not the same one; shake hands again.")
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
        let plaintext = try cipherStep(endpoint) { () throws(CipherError) in try cipher.decrypt(answer) }
        next = .secured(cipher)
        return plaintext
    }

    /// The board's answer on `proto-ver`, in clear and without a session. It leaves a running session as it is.
    public func versionInfo() async throws(ProtocommError) -> [UInt8] {
        let link = try await takeTurn(.version)
        defer { passTurn(link) }
        do {
            // Any body will do as long as there is one; the official tools send three dashes.
            return try await exchange(Array("---".utf8), on: .version, within: deadlines.exchange)
        } catch {
            throw refine(error)
        }
    }

    /// Gives up the session after an answer that makes no sense: the two ends are most likely out of step. Only a handshake helps.
    public func markInvalid() async {
        guard let link = try? await takeTurn(.session) else { return }
        if case .clear = link { passTurn(link) } else { passTurn(.outOfStep) }
    }

    /// Asks a board what it is, without keeping a session.
    public static func versionInfo(of transport: any Transport) async throws(ProtocommError) -> [UInt8] {
        try await ProtocommSession(transport: transport).versionInfo()
    }

    /// Establishes the session, anew if there was one. A failure leaves no session behind.
    ///
    /// Throws `securityMismatch` when the board does not take the first command of this scheme (or the transport cannot carry
    /// it), and `wrongProofOfPossession` when it does not take the second, or cannot prove itself.
    public func handshake<Scheme: SecurityScheme>(_ scheme: Scheme) async throws(ProtocommError) {
        let previous = try await takeTurn(.session)
        var next = previous
        defer { passTurn(next) }

        var scheme = scheme
        var round = 1
        var step = try handshakeStep(round) { () throws(HandshakeError) in try scheme.start() }
        while case .send(let bytes) = step {
            guard round <= Self.maximumRounds else {
                throw failure(.securityMismatch, .session, "The handshake does not come to an end.")
            }
            if let limit = transport.maximumRequestLength(on: .session), bytes.count > limit {
                throw failure(
                    .securityMismatch, .session,
                    "\(scheme.title) does not fit \(transport.carrier): its message has \(bytes.count) bytes, and at most \(limit) fit. "
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
            step = try handshakeStep(round) { () throws(HandshakeError) in try scheme.receive(answer) }
            round += 1
        }
        let cipher = try handshakeStep(round) { () throws(HandshakeError) in try scheme.finish() }
        next = .secured(cipher)
    }

    /// Ends the session: waiting callers throw `ended`, an exchange in flight is cut off, and the transport is closed.
    public func end() async {
        guard !turn.isEnded else { return }
        for ticket in turn.end() { continuations.removeValue(forKey: ticket)?.resume(returning: nil) }
        await transport.close()
    }

    /// No scheme of protocomm has more than two.
    static let maximumRounds = 4
}

extension ProtocommSession {
    func exchange(
        _ request: [UInt8], on endpoint: Endpoint, within limit: Duration
    ) async throws(TransportError) -> [UInt8] {
        let (transport, clock) = (transport, clock)
        let outcome = await withDeadline(limit, sleep: { try await clock.sleep(for: $0) }) {
            () async throws(TransportError) in try await transport.exchange(request, on: endpoint)
        }
        switch outcome {
        case .success(let answer)?:
            hasAnswered = true
            logger.debug(
                "exchange", metadata: ["peer": "\(peer)", "endpoint": "\(endpoint)", "bytes": "\(answer.count)"])
            return answer
        case .failure? where Task.isCancelled:
            // Whatever the transport calls it: nobody is to make a link again for that.
            throw TransportError(.cancelled, endpoint: endpoint, peer: peer, message: "The exchange was cancelled.")
        case .failure(let error)?:
            throw error
        case nil:
            throw TransportError(.timeout, endpoint: endpoint, peer: peer, message: "No answer within \(limit).")
        }
    }

    func checkLength(_ count: Int, _ endpoint: Endpoint) throws(ProtocommError) {
        guard let limit = transport.maximumRequestLength(on: endpoint), count > limit else { return }
        throw failure(
            .tooLong, endpoint,
            "The request has \(count) bytes, and \(transport.carrier) carries at most \(limit) there.")
    }

    func cipherStep(
        _ endpoint: Endpoint, _ body: () throws(CipherError) -> [UInt8]
    ) throws(ProtocommError) -> [UInt8] {
        do throws(CipherError) {
            return try body()
        } catch {
            throw failure(
                .cipherFailure, endpoint,
                "The message could not be encrypted or decrypted (\(error)). Shake hands again.")
        }
    }
}

extension ProtocommSession {
    func takeTurn(_ endpoint: Endpoint) async throws(ProtocommError) -> SessionLink {
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
            // Nobody awaits this task: it only removes a ticket, and does nothing when the ticket has had its turn.
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

/// What the two ends share between exchanges.
enum SessionLink: Sendable {
    /// No handshake yet: only what travels in clear may be sent.
    case clear
    /// Both ends are in step.
    case secured(any SessionCipher)
    /// In step, but for one message that was encrypted and provably never reached the board's cipher. Only sending those very
    /// bytes keeps the two ends in step: each cipher counts what it has encrypted.
    case unsent(any SessionCipher, plaintext: [UInt8], sealed: [UInt8])
    /// An exchange was lost half way, so nobody knows what the other end has counted.
    case outOfStep
}

/// Which caller may use the session now. A value, so that the order is decided in one place; ``ProtocommSession`` does the waiting.
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

    /// Asks to use the session. Callers that have to wait are served in the order of their tickets.
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

    /// Lets the next caller use the session: the one with the returned ticket; nil where none waits.
    mutating func leave(_ link: SessionLink) -> Int? {
        guard case .busy = state else { return nil }
        guard waiting.isEmpty else { return waiting.removeFirst() }
        state = .idle(link)
        return nil
    }

    /// Forgets a waiting ticket; false if it is not waiting (any more).
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
        _ round: Int, _ body: () throws(HandshakeError) -> Value
    ) throws(ProtocommError) -> Value {
        do throws(HandshakeError) {
            return try body()
        } catch {
            switch error {
            case .proofMismatch:
                throw wrongProof("The board did not prove that it knows the same proof of possession.")
            case .versionMismatch, .malformed, .rejected, .unsafePublicKey:
                throw failure(
                    .securityMismatch, .session,
                    "The board's answer to step \(round) of the handshake is not one of this scheme (\(error)). "
                        + "Try the scheme that its version information names.")
            case .invalidParameters, .notEstablished, .cryptoFailure:
                throw failure(.cipherFailure, .session, "The handshake failed on this side (\(error)).")
            }
        }
    }

    func refineHandshake(_ error: TransportError, round: Int) -> ProtocommError {
        if error.code == .tooLong {
            return failure(
                .securityMismatch, .session,
                "The board does not take messages as long as this security scheme's. Use another transport, or firmware "
                    + "with Security 1.", cause: error)
        }
        guard error.code == .refused else {
            var failure = refine(error)
            failure.isProofInDoubt = round > 1 && !error.neverReachedTheCipher
            return failure
        }
        guard round > 1 else {
            return failure(
                .securityMismatch, .session,
                "The board refused the first command of this security scheme. Try the scheme that its version information names.",
                cause: error)
        }
        return wrongProof(
            "The board refused the proof. Check the proof of possession on its label or QR code. "
                + "RainMaker boards stop provisioning after five wrong proofs.", cause: error)
    }

    func wrongProof(_ message: String, cause: TransportError? = nil) -> ProtocommError {
        failure(.wrongProofOfPossession, .session, message, cause: cause)
    }

    func refine(_ error: TransportError) -> ProtocommError {
        turn.isEnded ? ended(error.endpoint) : ProtocommError(error, hasAnswered: hasAnswered)
    }

    func failure(
        _ code: ProtocommError.Code, _ endpoint: Endpoint?, _ message: String, cause: TransportError? = nil
    ) -> ProtocommError {
        ProtocommError(code, endpoint: endpoint, peer: peer, message: message, cause: cause, hasAnswered: hasAnswered)
    }

    func cancelled(_ endpoint: Endpoint) -> ProtocommError {
        failure(.cancelled, endpoint, "The request was cancelled before it was sent.")
    }

    func ended(_ endpoint: Endpoint?) -> ProtocommError {
        failure(.ended, endpoint, "The session has ended.")
    }
}

extension TransportError {
    /// Whether the request certainly did not get as far as the board's cipher.
    var neverReachedTheCipher: Bool {
        code == .unreachable || code == .tooLong || code == .noSuchEndpoint || code == .busy
    }
}
