// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

/// The refresh token of one session, as the cloud remembers it: what is accepted now, and until when.
///
/// Only hashes are kept. This is the one place that decides what a presented token is worth. With rotation each token is
/// replaced as it is used (RFC 9700, 4.14.2). If an old one is used again, it was stolen, or its replacement was lost on the way.
/// Within the grace period it gets another replacement, beside the first; after that the caller must end the session.
struct RefreshToken: Codable, Sendable, Equatable {
    enum Verdict: Equatable {
        /// Accepted, and stays as it is.
        case accepted
        /// Accepted, and replaced by this one.
        case rotated(String)
        /// It was replaced a short while ago, and is replaced again.
        case grace(String)
        /// It was replaced before, and that is too long ago.
        case reused
        /// Never issued here.
        case unknown
        case expired

        /// The token that the client must keep from now on.
        var replacement: String? {
            switch self {
            case .rotated(let text), .grace(let text): text
            case .accepted, .reused, .unknown, .expired: nil
            }
        }

        /// The outcome as the journal writes it.
        var outcome: String {
            switch self {
            case .accepted: "accepted"
            case .rotated: "rotated"
            case .grace: "grace"
            case .reused: "reused"
            case .unknown: "unknown"
            case .expired: "expired"
            }
        }
    }

    struct Rotation {
        /// How long a replaced token still works, in milliseconds.
        var grace: Int64
    }

    private struct Replaced: Codable, Equatable {
        var hash: [UInt8]
        var at: Int64
    }

    /// The most replaced tokens that are remembered for a session, and the most that can be live at once.
    static let remembered = 16

    private var live: [[UInt8]]
    private var replaced: [Replaced] = []
    private var expiresAt: Int64

    /// The first token of the session, which the client is given, and what is kept of it. Times are in milliseconds.
    static func issue(session: String, expiresAt: Int64) -> (text: String, token: RefreshToken) {
        let text = makeText(session: session)
        return (text, RefreshToken(live: [hash(text)], expiresAt: expiresAt))
    }

    /// The session that a token says it belongs to.
    static func session(of text: String) -> String? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[0]) : nil
    }

    /// Whether it is one that works now, without using it.
    func accepts(_ text: String, at now: Int64) -> Bool {
        let presented = Self.hash(text)
        return now < expiresAt && live.contains { equalInConstantTime($0, presented) }
    }

    /// - Parameter rotation: nil if tokens stay as they are.
    mutating func redeem(_ text: String, at now: Int64, rotation: Rotation?) -> Verdict {
        let presented = Self.hash(text)
        if let old = replaced.first(where: { equalInConstantTime($0.hash, presented) }) {
            guard let rotation, now < old.at + rotation.grace, now < expiresAt, let next = add(to: text) else {
                return .reused
            }
            return .grace(next)
        }
        guard live.contains(where: { equalInConstantTime($0, presented) }) else { return .unknown }
        guard now < expiresAt else { return .expired }
        guard rotation != nil, let next = add(to: text) else { return .accepted }
        live.removeAll { equalInConstantTime($0, presented) }
        replaced = (replaced + [Replaced(hash: presented, at: now)]).suffix(Self.remembered)
        return .rotated(next)
    }

    /// One more live token, for the session that `text` belongs to.
    private mutating func add(to text: String) -> String? {
        guard let session = Self.session(of: text) else { return nil }
        let next = Self.makeText(session: session)
        live = (live + [Self.hash(next)]).suffix(Self.remembered)
        return next
    }

    private init(live: [[UInt8]], expiresAt: Int64) {
        self.live = live
        self.expiresAt = expiresAt
    }

    private static func makeText(session: String) -> String {
        var random = OpenSSLRandom()
        return session + "." + base64URL(random.bytes(48))
    }

    private static func hash(_ text: String) -> [UInt8] { OpenSSLHashes.sha256(Array(text.utf8)) }
}
