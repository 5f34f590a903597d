// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL
import RainCryptoOpenSSL
import RainJSON

extension JSONWebTokenSigner {
    /// The public half as RFC 7517 and 7518 (6.2.1 and 6.3.1) write it.
    var jsonWebKey: JSONValue {
        let common: [JSONValue.Member] = [
            .init("use", "sig"), .init("alg", .string(algorithm.rawValue)), .init("kid", .string(keyID)),
        ]
        guard algorithm == .es256 else {
            return .object(
                [.init("kty", "RSA"), .init("n", .string(number("n"))), .init("e", .string(number("e")))] + common)
        }
        let digits = publicKey.pem.split(separator: 0x0A).filter { $0.first != UInt8(ascii: "-") }.joined()
        // A SubjectPublicKeyInfo of P-256 ends with the point: 32 bytes of x, 32 of y.
        let point = (decodedBase64(String(decoding: Array(digits), as: UTF8.self)) ?? []).suffix(64)
        return .object(
            [
                .init("kty", "EC"), .init("crv", "P-256"), .init("x", .string(base64URL(Array(point.prefix(32))))),
                .init("y", .string(base64URL(Array(point.suffix(32))))),
            ] + common)
    }

    /// A number of an RSA key, by libcrypto's name for it, without zeros in front.
    private func number(_ name: String) -> String {
        publicKey.withPointer { key in
            var number: OpaquePointer?
            guard EVP_PKEY_get_bn_param(key, name, &number) == 1, let number else { return "" }
            defer { BN_free(number) }
            var bytes = [UInt8](repeating: 0, count: (Int(BN_num_bits(number)) + 7) / 8)
            BN_bn2bin(number, &bytes)
            return base64URL(bytes)
        }
    }
}
