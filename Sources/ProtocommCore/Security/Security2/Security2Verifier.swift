// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// What a board keeps of a password: enough to check it, not enough to be it.
public struct Security2Verifier: Sendable {
    /// The random bytes that go into the verifier; no secret, as the board sends them to each client.
    public let salt: [UInt8]
    /// v = g^x, up to 384 bytes, big-endian.
    public let verifier: [UInt8]

    /// What was stored before.
    public init(salt: [UInt8], verifier: [UInt8]) {
        self.salt = salt
        self.verifier = verifier
    }

    /// Makes the verifier of a password. Boards use a random salt of 16 bytes.
    public init<Suite: CryptoSuite>(
        username: [UInt8], password: [UInt8], salt: [UInt8], passwordHash: PasswordHash = .standard, with _: Suite.Type
    ) throws(CryptoFailure) {
        self.salt = salt
        let x = passwordHash.compute(
            salt: salt, username: username, password: KeyMaterial(password), with: Suite.self)
        verifier = try SRP<Suite>.power(ofGenerator: x).bytes
    }
}
