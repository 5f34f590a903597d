// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

/// A random token that says nothing: lower-case hex of that many bytes.
func opaqueToken(bytes count: Int = 20) -> String {
    var random = OpenSSLRandom()
    return lowercaseHex(random.bytes(count))
}

/// Random letters and digits.
func alphanumericToken(_ count: Int) -> String {
    var random = OpenSSLRandom()
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    return String(decoding: random.bytes(count).map { alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
}
