// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

/// The codes that were sent to users and not yet used, by what they are for. A value without a clock; times are in
/// milliseconds.
struct VerificationCodes: Codable, Sendable, Equatable {
    struct Pending: Codable, Sendable, Equatable {
        var userID: String
        /// The value that takes effect with the right code: a new phone number, a new user name.
        var target: String?
        fileprivate var hash: [UInt8]
        fileprivate var expiresAt: Int64
        fileprivate var failures = 0
    }

    enum Verdict: Equatable {
        /// The code is used up.
        case right(Pending)
        case wrong
        case expired
        /// None was sent, or it was used.
        case missing
        /// Too many wrong tries: this code is not accepted any more.
        case exhausted
    }

    /// The kind and the holder of a code. There is one code at a time for each pair.
    struct Key: Sendable {
        fileprivate var text: String

        /// - Parameter holder: a user's id, or the handle of a sign-in that waits for the code.
        init(_ kind: Mailbox.Kind, _ holder: String) {
            text = "\(kind.rawValue) \(lowercaseHex(OpenSSLHashes.sha256(Array(holder.utf8))))"
        }
    }

    static let maximumFailures = 5
    /// The oldest are forgotten beyond this.
    static let maximum = 1_000

    private var pending: [String: Pending] = [:]

    /// A new code of six digits, in place of one that may be there.
    mutating func issue(
        _ key: Key, userID: String, target: String? = nil, lifetime: Int64, at now: Int64
    ) -> String {
        if pending.count >= Self.maximum {
            pending = pending.filter { $0.value.expiresAt > now }
            if pending.count >= Self.maximum, let oldest = pending.min(by: { $0.value.expiresAt < $1.value.expiresAt })
            {
                pending[oldest.key] = nil
            }
        }
        var random = OpenSSLRandom()
        // A multiple of 2^64 is not one of a million: the bias is of 1 in 10^13.
        let digits = String(random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000)
        let code = String(repeating: "0", count: 6 - digits.count) + digits
        pending[key.text] = Pending(
            userID: userID, target: target, hash: Self.hash(code, key), expiresAt: now + lifetime)
        return code
    }

    mutating func redeem(_ key: Key, code: String, at now: Int64) -> Verdict {
        guard let known = pending[key.text] else { return .missing }
        guard known.failures < Self.maximumFailures else { return .exhausted }
        guard known.expiresAt > now else { return .expired }
        guard equalInConstantTime(known.hash, Self.hash(code, key)) else {
            pending[key.text]?.failures += 1
            return .wrong
        }
        pending[key.text] = nil
        return .right(known)
    }

    mutating func removeAll(of userID: String) { pending = pending.filter { $0.value.userID != userID } }

    private static func hash(_ code: String, _ key: Key) -> [UInt8] {
        OpenSSLHashes.sha256(Array("\(key.text) \(code)".utf8))
    }
}
