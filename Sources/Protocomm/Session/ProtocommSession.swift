// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommCore

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
