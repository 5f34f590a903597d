// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// Signs and checks the tokens: JWT (RFC 7519) with ES256.
struct JSONWebTokenSigner: Sendable {
    /// Longer tokens are not looked at.
    static let maximumLength = 8 << 10

    private let key: PrivateKey
    private let publicKey: PublicKey
    private let header: String
    /// The key's id (`kid`), for clients that know several keys.
    let keyID: String

    init(key: PrivateKey) throws(SimulatorError) {
        self.key = key
        do throws(KeyError) {
            publicKey = try key.publicKey
        } catch {
            throw SimulatorError(.crypto, "the token key has no public half: \(error)")
        }
        // A hash of it.
        keyID = base64URL(Array(OpenSSLHashes.sha256(publicKey.pem).prefix(12)))
        header = base64URL(safe(["alg": "ES256", "kid": .string(keyID), "typ": "JWT"]))
    }

    func sign(_ claims: JSONValue) throws(SimulatorError) -> String {
        let signed = header + "." + base64URL(safe(claims))
        do {
            return signed + "." + base64URL(try key.sign(Array(signed.utf8), algorithm: .ecdsaFixedLength))
        } catch {
            throw SimulatorError(.crypto, "the token could not be signed")
        }
    }

    /// The public half as RFC 7517 and 7518 (6.2.1) write it.
    var jsonWebKey: JSONValue {
        let digits = publicKey.pem.split(separator: 0x0A).filter { $0.first != UInt8(ascii: "-") }.joined()
        // A SubjectPublicKeyInfo of P-256 ends with the point: 32 bytes of x, 32 of y.
        let point = (decodedBase64(String(decoding: Array(digits), as: UTF8.self)) ?? []).suffix(64)
        return [
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": .string(keyID),
            "x": .string(base64URL(Array(point.prefix(32)))), "y": .string(base64URL(Array(point.suffix(32)))),
        ]
    }

    /// The claims of a token that this key signed; nil for every other token.
    func verify(_ token: String) -> JSONValue? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= Self.maximumLength, parts.count == 3, parts[0] == header,
            let payload = decodedBase64URL(parts[1]), let signature = decodedBase64URL(parts[2]),
            publicKey.isValid(signature, for: Array("\(parts[0]).\(parts[1])".utf8), algorithm: .ecdsaFixedLength)
        else { return nil }
        return try? JSONValue(parsing: payload)
    }
}

/// JSON that never gives `-` or `_` in base64url, whatever it says: the official client decodes tokens with the
/// standard alphabet. Sextets of 62 and 63 come of bytes over 0x7F and of `>`, `?` and `~` only.
private func safe(_ value: JSONValue) -> [UInt8] {
    var text: [UInt8] = []
    for scalar in String(decoding: value.serialized(), as: UTF8.self).unicodeScalars {
        if scalar.value < 0x7E, scalar != ">", scalar != "?" {
            text.append(UInt8(scalar.value))
        } else {
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                text += "\\u".utf8
                text += String(repeating: "0", count: 4 - digits.count).utf8
                text += digits.utf8
            }
        }
    }
    return text
}
