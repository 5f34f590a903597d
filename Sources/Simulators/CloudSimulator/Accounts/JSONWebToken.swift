// SPDX-License-Identifier: Apache-2.0
import RainCore
import CRainOpenSSL
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// Signs and checks the tokens: JWT (RFC 7519) with ES256, RS256 or PS256 (RFC 7518, 3.1).
struct JSONWebTokenSigner: Sendable {
    /// Signature algorithms, by the names of RFC 7518.
    enum Algorithm: String, Sendable, CaseIterable {
        case es256 = "ES256"
        case rs256 = "RS256"
        case ps256 = "PS256"

        fileprivate var signature: SignatureAlgorithm {
            switch self {
            case .es256: .ecdsaFixedLength
            case .rs256: .rsaPKCS1
            case .ps256: .rsaPSS
            }
        }
    }

    /// Longer tokens are refused.
    private static let maximumLength = 8 << 10

    private let key: PrivateKey
    private let publicKey: PublicKey
    private let header: String
    let algorithm: Algorithm
    /// The key's id (`kid`), for clients that know several keys.
    let keyID: String

    /// Makes a signer with a new key for the algorithm.
    init(generating algorithm: Algorithm = .es256) throws(SimulatorError) {
        let key: PrivateKey
        do throws(KeyError) {
            key = try PrivateKey(generating: algorithm == .es256 ? .p256 : .rsa2048)
        } catch {
            throw SimulatorError(.crypto, "a key for tokens could not be created: \(error)")
        }
        try self.init(key: key, algorithm: algorithm)
    }

    init(key: PrivateKey, algorithm: Algorithm = .es256) throws(SimulatorError) {
        self.key = key
        self.algorithm = algorithm
        do throws(KeyError) {
            publicKey = try key.publicKey
        } catch {
            throw SimulatorError(.crypto, "the token key has no public key: \(error)")
        }
        // A hash of the public key.
        keyID = Base64.urlText(Array(OpenSSLHashes.sha256(publicKey.pem).prefix(12)))
        header = Self.header(algorithm.rawValue, keyID)
    }

    private static func header(_ algorithm: String, _ keyID: String) -> String {
        Base64.urlText(safe(["alg": .string(algorithm), "kid": .string(keyID), "typ": "JWT"]))
    }

    /// - Parameter foreign: the id of another key, for tokens that a client must refuse.
    func sign(_ claims: JSONValue, keyID foreign: String? = nil) throws(SimulatorError) -> String {
        let header = foreign.map { Self.header(algorithm.rawValue, $0) } ?? header
        let signed = header + "." + Base64.urlText(safe(claims))
        do {
            return signed + "." + Base64.urlText(try key.sign(Array(signed.utf8), algorithm: algorithm.signature))
        } catch {
            throw SimulatorError(.crypto, "the token could not be signed")
        }
    }

    /// Returns an unsigned token (RFC 7515, appendix A.5), which a client must refuse.
    func unsigned(_ claims: JSONValue) -> String {
        Self.header("none", keyID) + "." + Base64.urlText(safe(claims)) + "."
    }

    /// Returns the claims of a token that this key signed; nil for all other tokens.
    func verify(_ token: String) -> JSONValue? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= Self.maximumLength, parts.count == 3, parts[0] == header,
            let payload = Base64.urlDecoded(parts[1].utf8), let signature = Base64.urlDecoded(parts[2].utf8),
            publicKey.isValid(signature, for: Array("\(parts[0]).\(parts[1])".utf8), algorithm: algorithm.signature)
        else { return nil }
        return try? JSONValue(parsing: payload)
    }
}

/// Returns JSON whose base64url never has `-` or `_`, because the official client decodes tokens with the standard alphabet. Only bytes
/// over 0x7F and `>`, `?` and `~` lead to the values 62 and 63.
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

extension JSONWebTokenSigner {
    /// The public key in the format of RFC 7517 and 7518 (6.2.1 and 6.3.1).
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
                .init("kty", "EC"), .init("crv", "P-256"), .init("x", .string(Base64.urlText(Array(point.prefix(32))))),
                .init("y", .string(Base64.urlText(Array(point.suffix(32))))),
            ] + common)
    }

    /// Returns a number of an RSA key by its libcrypto name, without leading zeros.
    private func number(_ name: String) -> String {
        publicKey.withPointer { key in
            var number: OpaquePointer?
            guard EVP_PKEY_get_bn_param(key, name, &number) == 1, let number else { return "" }
            defer { BN_free(number) }
            var bytes = [UInt8](repeating: 0, count: (Int(BN_num_bits(number)) + 7) / 8)
            BN_bn2bin(number, &bytes)
            return Base64.urlText(bytes)
        }
    }
}
