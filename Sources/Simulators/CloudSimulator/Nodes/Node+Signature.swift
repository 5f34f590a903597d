// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

extension Node {
    /// Whether the node's registered key signed this text: ECDSA in DER, or RSASSA-PSS, both with SHA-256.
    func signed(_ text: String, _ signature: [UInt8]) -> Bool {
        guard let key = try? PublicKey(pem: Array(certificate.utf8)) else { return false }
        return key.isValid(signature, for: Array(text.utf8), algorithm: keyKind == .rsa ? .rsaPSS : .ecdsa)
    }
}
