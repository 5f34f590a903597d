import Hashing
import HashingOpenSSL

/// The refresh token of one session, as the cloud remembers it: what is accepted now, and until when.
///
/// Only hashes are kept. This is the one place that decides what a presented token is worth, so a grace period for the token
/// before, or a punishment for its reuse, is a new case of ``Verdict`` and a line in ``redeem(_:at:rotating:)``.
struct RefreshToken: Codable, Sendable, Equatable {
    enum Verdict: Equatable {
        /// Accepted. With rotation, the token that replaces the one presented.
        case accepted(replacement: String?)
        /// It was replaced by a refresh before.
        case replaced
        /// Never issued here.
        case unknown
        case expired
    }

    /// How many replaced tokens are remembered as such, per session.
    static let remembered = 16

    private var current: [UInt8]
    private var replaced: [[UInt8]] = []
    private var expiresAt: Int64

    /// The first token of the session, which the client is given, and what is kept of it. Times are in milliseconds.
    static func issue(session: String, expiresAt: Int64) -> (text: String, token: RefreshToken) {
        let text = makeText(session: session)
        return (text, RefreshToken(current: hash(text), expiresAt: expiresAt))
    }

    /// The session that a token says it belongs to.
    static func session(of text: String) -> String? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[0]) : nil
    }

    mutating func redeem(_ text: String, at now: Int64, rotating: Bool) -> Verdict {
        let presented = Self.hash(text)
        if replaced.contains(where: { equalInConstantTime($0, presented) }) { return .replaced }
        guard equalInConstantTime(current, presented) else { return .unknown }
        guard now < expiresAt else { return .expired }
        guard rotating, let session = Self.session(of: text) else { return .accepted(replacement: nil) }
        let next = Self.makeText(session: session)
        replaced = (replaced + [current]).suffix(Self.remembered)
        current = Self.hash(next)
        return .accepted(replacement: next)
    }

    private init(current: [UInt8], expiresAt: Int64) {
        self.current = current
        self.expiresAt = expiresAt
    }

    private static func makeText(session: String) -> String {
        var random = OpenSSLRandom()
        return session + "." + base64URL(random.bytes(48))
    }

    private static func hash(_ text: String) -> [UInt8] { OpenSSLHashes.sha256(Array(text.utf8)) }
}
