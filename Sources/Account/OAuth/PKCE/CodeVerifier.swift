// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCore

/// The secret that proves, when a code is redeemed, that it goes to whoever asked for it (RFC 7636).
///
/// ```swift
/// let verifier = CodeVerifier(random: &random)
/// request.codeChallenge = verifier.challenge(OpenSSLHashes.self)
/// ```
public struct CodeVerifier: Sendable, Equatable {
    /// The verifier's characters.
    public let secret: Secret

    /// 256 random bits, 43 characters (RFC 7636, section 7.1).
    public init(random: inout some RandomSource) {
        secret = Secret(Base64.urlEncoded(random.bytes(32)))
    }

    /// A verifier that was made before; nil unless it is 43 to 128 unreserved characters (section 4.1).
    public init?(_ secret: Secret) {
        let isValid = secret.reveal { bytes in
            (43...128).contains(bytes.count) && bytes.allSatisfy { isLetterOrDigit($0) || "-._~".utf8.contains($0) }
        }
        guard isValid else { return nil }
        self.secret = secret
    }

    /// What the authorization request shows of it, by the only method worth using: S256 (section 4.2).
    public func challenge(_ hashes: (some Hashes).Type) -> CodeChallenge {
        CodeChallenge(
            method: .s256,
            text: String(decoding: Base64.urlEncoded(hashes.sha256(secret.revealBytes())), as: UTF8.self))
    }
}

/// A ``CodeVerifier`` as it is shown beforehand. It is no secret.
public struct CodeChallenge: Sendable, Equatable {
    /// How the challenge follows from the verifier.
    public struct Method: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// SHA-256 of the verifier.
        public static let s256 = Method(rawValue: "S256")
    }

    /// How the challenge follows from the verifier.
    public var method: Method
    /// What the request carries.
    public var text: String

    public init(method: Method, text: String) {
        self.method = method
        self.text = text
    }
}
