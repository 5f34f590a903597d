// SPDX-License-Identifier: Apache-2.0
import RainCrypto

extension OpenSSLCrypto: PublicKeySignatures {
    public static func isValid(
        _ signature: [UInt8], for message: [UInt8], by key: PublicKeyNumbers, as scheme: SignatureScheme
    ) -> Bool {
        guard let key = PublicKey(key) else { return false }
        let algorithm: SignatureAlgorithm =
            switch scheme {
            case .rs256: .rsaPKCS1
            case .es256: .ecdsaFixedLength
            case .ps256: .rsaPSSFixedSalt
            }
        return key.isValid(signature, for: message, algorithm: algorithm)
    }
}
