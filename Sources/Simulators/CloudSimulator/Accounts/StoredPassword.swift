// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCrypto
import RainCryptoOpenSSL

/// A password that can be compared and not read: PBKDF2 with HMAC-SHA-256 (RFC 8018).
struct StoredPassword: Codable, Sendable, Equatable {
    /// Far fewer than a real cloud should use: the users are invented, and benchmarks and mutation tests sign in so often that
    /// slow hashing would dominate their time.
    static let iterations = 100

    private var salt: [UInt8]
    private var iterations: Int
    private var hash: [UInt8]

    init(_ password: String) {
        var random = OpenSSLRandom()
        salt = random.bytes(16)
        iterations = Self.iterations
        hash = Self.derive(password, salt: salt, iterations: iterations)
    }

    func matches(_ password: String) -> Bool {
        equalInConstantTime(hash, Self.derive(password, salt: salt, iterations: iterations))
    }

    private static func derive(_ password: String, salt: [UInt8], iterations: Int) -> [UInt8] {
        let bytes = Array(password.utf8)
        var derived = [UInt8](repeating: 0, count: 32)
        let done = bytes.withUnsafeBytes { password in
            PKCS5_PBKDF2_HMAC(
                password.bindMemory(to: CChar.self).baseAddress, Int32(password.count), salt, Int32(salt.count),
                Int32(iterations), EVP_sha256(), Int32(derived.count), &derived)
        }
        precondition(done == 1, "libcrypto could not derive a key")
        return derived
    }
}
