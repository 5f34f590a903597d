// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL

/// Tokens, codes or sessions that expire, at most `maximum`. When it is full the oldest are removed.
///
/// Expired entries are kept until their space is needed, since some systems answer them differently from unknown ones.
struct ExpiringTable<Value: Sendable>: Sendable {
    enum Found {
        case good(Value)
        case expired(Value)
        case unknown
    }

    private struct Entry {
        var value: Value
        /// Milliseconds since 1970; the entry is valid before.
        var end: Int64
        var number: UInt64
    }

    private let maximum: Int
    private var entries: [String: Entry] = [:]
    private var issued: UInt64 = 0
    /// All entries by age, from `oldest` on. Those whose number is not in `entries` have been removed or replaced since.
    private var byAge: [(key: String, number: UInt64)] = []
    private var oldest = 0
    /// No entry expires before this. So a full table need not search all of its entries at each sign-in.
    private var earliestEnd = Int64.max

    init(maximum: Int) { self.maximum = maximum }

    var count: Int { entries.count }

    mutating func insert(_ value: Value, key: String, until end: Int64, at now: Int64) {
        if entries.count >= maximum, entries[key] == nil {
            if earliestEnd <= now {
                entries = entries.filter { $0.value.end > now }
                earliestEnd = entries.values.map(\.end).min() ?? .max
            }
            if entries.count >= maximum { removeOldest() }
        }
        issued += 1
        entries[key] = Entry(value: value, end: end, number: issued)
        earliestEnd = min(earliestEnd, end)
        if byAge.count > 2 * maximum {
            byAge = byAge[oldest...].filter { entries[$0.key]?.number == $0.number }
            oldest = 0
        }
        byAge.append((key, issued))
    }

    private mutating func removeOldest() {
        while oldest < byAge.count {
            let (key, number) = byAge[oldest]
            oldest += 1
            guard entries[key]?.number == number else { continue }
            entries[key] = nil
            return
        }
    }

    func find(_ key: String, at now: Int64) -> Found {
        guard let entry = entries[key] else { return .unknown }
        return now < entry.end ? .good(entry.value) : .expired(entry.value)
    }

    /// Returns the value if it is still valid.
    func value(_ key: String, at now: Int64) -> Value? {
        if case .good(let value) = find(key, at: now) { value } else { nil }
    }

    /// Returns the end of an entry, in milliseconds since 1970.
    func end(of key: String) -> Int64? { entries[key]?.end }

    /// Removes and returns the value, if it has not expired.
    mutating func take(_ key: String, at now: Int64) -> Value? {
        guard let value = value(key, at: now) else { return nil }
        entries[key] = nil
        return value
    }

    mutating func update(_ key: String, _ change: (inout Value) -> Void) {
        guard entries[key] != nil else { return }
        change(&entries[key]!.value)
    }

    /// Changes the end of an entry.
    mutating func extend(_ key: String, until end: Int64) {
        entries[key]?.end = end
        earliestEnd = min(earliestEnd, end)
    }

    mutating func remove(_ key: String) { entries[key] = nil }

    mutating func removeAll(where isDoomed: (Value) -> Bool) {
        entries = entries.filter { !isDoomed($0.value.value) }
    }

    mutating func expireAll(at now: Int64, where isDoomed: (Value) -> Bool) {
        for (key, entry) in entries where entry.end > now && isDoomed(entry.value) { entries[key]!.end = now }
        earliestEnd = min(earliestEnd, now)
    }
}

/// The code challenge of an authorization request (RFC 7636), `S256` only.
struct StoredChallenge: Sendable, Equatable {
    private let challenge: String

    /// Returns nil if the request has no challenge.
    static func of(_ parameters: OAuthParameters) throws(OAuthFailure) -> StoredChallenge? {
        let method = parameters["code_challenge_method"]
        guard let challenge = parameters["code_challenge"] else {
            guard method == nil else { throw OAuthFailure(.invalidRequest, "code_challenge is missing") }
            return nil
        }
        guard method == "S256", challenge.utf8.count == 43 else {
            throw OAuthFailure(.invalidRequest, "Only the code_challenge_method S256 is supported")
        }
        return StoredChallenge(challenge: challenge)
    }

    fileprivate func isProven(by verifier: String?) -> Bool {
        guard let verifier, (43...128).contains(verifier.utf8.count) else { return false }
        let hash = Base64.urlText(OpenSSLHashes.sha256(Array(verifier.utf8)))
        return equalInConstantTime(Array(hash.utf8), Array(challenge.utf8))
    }
}

/// A verifier without a challenge is refused as well (RFC 9700, 2.1.1): an attacker may have removed the challenge.
func proves(_ verifier: String?, _ challenge: StoredChallenge?) -> Bool {
    challenge.map { $0.isProven(by: verifier) } ?? (verifier == nil)
}
