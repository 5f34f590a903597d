// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL

@testable import CloudSimulator

func hmacHex(_ text: String, _ key: String) -> String {
    Hex.text(OpenSSLHashes.hmacSHA256(Array(text.utf8), key: Array(key.utf8)))
}
