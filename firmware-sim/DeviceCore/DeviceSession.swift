// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// The one security session of a protocomm instance. Its id is the transport's.
struct DeviceSession<Security: DeviceSecurityScheme>: Sendable {
    /// What a handshake's command comes to.
    enum Handshake {
        case reply([UInt8])
        case established([UInt8])
        /// The client's proof, or its key, is none.
        case wrongProof
        case refused
    }

    private let version: SecurityVersion
    private var security: Security
    private(set) var id: UInt32?
    private var cipher: Security.Cipher?
    /// The first command of this session's handshake has been answered.
    private var isHandshaking = false
    /// The firmware has freed its proof of possession: the keys of handshakes that begin from then on are wrong.
    private var isProofFreed = false
    /// The key of this handshake was derived from freed memory.
    private var isKeyWrong = false

    init(_ version: SecurityVersion, _ security: Security) {
        self.version = version
        self.security = security
    }

    /// Ends the session that exists, and begins another.
    mutating func open(_ id: UInt32) { (self.id, cipher, isHandshaking) = (id, nil, false) }

    mutating func close() { (id, cipher, isHandshaking, isProofFreed) = (nil, nil, false, false) }

    /// `network_prov_mgr_stop_service` frees the proof of Security 1, of which protocomm has only a shallow copy and which it goes on using
    /// until the service ends. The key is derived at the first command, so a handshake that is under way succeeds.
    mutating func freeProof() { isProofFreed = version == .security1 }

    mutating func shakeHands(_ request: [UInt8]) -> Handshake {
        do throws(HandshakeError) {
            switch try security.respond(to: request) {
            case .reply(let reply):
                cipher = nil
                isHandshaking = true
                isKeyWrong = isProofFreed
                return .reply(reply)
            case .established(let reply, let cipher):
                // A new session does not inherit the handshake that another one began.
                guard isHandshaking || version == .security0 else { return .refused }
                guard !isKeyWrong else { return .wrongProof }
                self.cipher = cipher
                return .established(reply)
            }
        } catch {
            switch error {
            // Of a first command: the firmware restarts the session before it looks at what came.
            case .invalidParameters, .unsafePublicKey:
                cipher = nil
                isHandshaking = false
                return .wrongProof
            // In a session without a first command of its own, a proof comes too early and is refused, whatever it contains.
            case .proofMismatch where isHandshaking: return .wrongProof
            default: return .refused
            }
        }
    }

    /// Nil where the board cannot read the request, or has no session for it.
    mutating func decrypt(_ request: [UInt8]) -> [UInt8]? {
        guard version != .security0 else { return request }
        guard cipher != nil else { return nil }
        do { return try cipher!.decrypt(request) } catch { return nil }
    }

    mutating func encrypt(_ reply: [UInt8]) -> [UInt8]? {
        guard version != .security0 else { return reply }
        guard cipher != nil else { return nil }
        do { return try cipher!.encrypt(reply) } catch { return nil }
    }
}
