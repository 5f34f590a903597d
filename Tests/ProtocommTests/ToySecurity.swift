// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import Synchronization

/// A stand-in for Security 1: two commands, then one keystream for both directions. After a message that is lost, repeated or out
/// of order, everything is unreadable.
struct ToyScheme: SecurityScheme {
    var proof: UInt8
    private var commands = 0
    private var verified = false

    init(proof: UInt8 = 42) { self.proof = proof }

    mutating func start() throws(HandshakeError) -> HandshakeStep {
        commands = 1
        return .send([0])
    }

    mutating func receive(_ response: [UInt8]) throws(HandshakeError) -> HandshakeStep {
        switch (commands, response) {
        case (1, [0, 1]):
            commands = 2
            return .send([1, proof])
        case (2, [1, 1]):
            verified = true
            return .established
        case (2, _): throw .proofMismatch
        default: throw .versionMismatch
        }
    }

    consuming func finish() throws(HandshakeError) -> ToyCipher {
        guard verified else { throw .notEstablished }
        return ToyCipher()
    }
}

struct ToyCipher: SessionCipher {
    private var counter: UInt8 = 0

    mutating func encrypt(_ plaintext: [UInt8]) throws(CipherError) -> [UInt8] { apply(plaintext) }
    mutating func decrypt(_ ciphertext: [UInt8]) throws(CipherError) -> [UInt8] { apply(ciphertext) }

    private mutating func apply(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { byte in
            defer { counter &+= 1 }
            return byte ^ counter
        }
    }
}

/// The board's end of it. It answers a request with the same bytes reversed, and refuses what does not begin with `R`.
final class ToyBoard: Sendable {
    private struct State {
        var cipher: ToyCipher?
        var received: [[UInt8]] = []
        var inside = 0
        var mostInside = 0
    }
    private let state = Mutex(State())
    let proof: UInt8
    init(proof: UInt8 = 42) { self.proof = proof }

    /// The decrypted requests in the order of their arrival.
    var received: [[UInt8]] { state.withLock { $0.received } }
    /// The largest number of requests that were being answered at once.
    var mostInside: Int { state.withLock { $0.mostInside } }

    func answer(_ request: [UInt8], onSession: Bool, isVersion: Bool) async -> [UInt8]? {
        state.withLock {
            $0.inside += 1
            $0.mostInside = max($0.mostInside, $0.inside)
        }
        await Task.yield()
        defer { state.withLock { $0.inside -= 1 } }
        if isVersion { return Array("{}".utf8) }
        return state.withLock { state in
            if onSession {
                switch request {
                case [0]:
                    state.cipher = nil
                    return [0, 1]
                case [1, proof]:
                    state.cipher = ToyCipher()
                    return [1, 1]
                default: return nil
                }
            }
            guard let plain = try? state.cipher?.decrypt(request), plain.first == UInt8(ascii: "R") else { return nil }
            state.received.append(plain)
            return try? state.cipher?.encrypt(plain.reversed())
        }
    }
}
