// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainAccount
import RainCore

/// HMAC-SHA-256 under one key, with the hash function handed in: how SPiD and OCLC sign.
struct KeyedHash: Sendable {
    let key: Secret
    let hashes: any Hashes.Type

    /// 32 bytes.
    func callAsFunction(_ message: [UInt8]) -> [UInt8] { hashes.hmacSHA256(message, key: key.revealBytes()) }
}
