// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

/// The code challenge of an authorization request (RFC 7636), `S256` only.
struct StoredChallenge: Sendable, Equatable {
    private let challenge: String

    /// Nil where the request has none.
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

    func isProven(by verifier: String?) -> Bool {
        guard let verifier, (43...128).contains(verifier.utf8.count) else { return false }
        let hash = base64URL(OpenSSLHashes.sha256(Array(verifier.utf8)))
        return equalInConstantTime(Array(hash.utf8), Array(challenge.utf8))
    }
}

/// A verifier without a challenge is refused, too (RFC 9700, 2.1.1): an attacker may have removed the challenge.
func proves(_ verifier: String?, _ challenge: StoredChallenge?) -> Bool {
    challenge.map { $0.isProven(by: verifier) } ?? (verifier == nil)
}
