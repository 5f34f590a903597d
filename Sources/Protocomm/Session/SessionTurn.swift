// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

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
