// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainJSON

/// The public keys that a server publishes (RFC 7517, section 5). Those that check no signature of a known kind are left out.
package struct JSONWebKeySet: Sendable, Equatable {
    package struct Key: Sendable, Equatable {
        /// `kid`
        var id: String?
        /// `alg`: the one algorithm that the key is for; nil for any that fits.
        var algorithm: String?
        package var numbers: PublicKeyNumbers
    }

    package private(set) var keys: [Key]

    /// The longest document that is read.
    package static let maximumBytes = 256 << 10
    /// Servers have two or three keys, some a dozen.
    private static let maximumCount = 100

    /// - Throws: `malformed` for what is no key set, `tooLarge` for too many keys.
    package init(_ json: JSONValue) throws(OAuth2FormatError) {
        guard let list = json["keys"]?.array else {
            throw OAuth2FormatError(.malformed, "a key set is a JSON object with keys")
        }
        guard list.count <= Self.maximumCount else {
            throw OAuth2FormatError(.tooLarge, "the key set has too many keys")
        }
        keys = list.compactMap(Key.init)
    }

    /// The keys that may have signed it: of the name in its header, or of any name if the header has none.
    package func keys(for signature: JSONWebSignature, as scheme: SignatureScheme) -> [Key] {
        let fitting = keys.filter { $0.fits(scheme) }
        guard let id = signature.keyID else { return fitting }
        // A server with one key may leave its name out of the set.
        return fitting.filter { $0.id == id || $0.id == nil }
    }
}

extension JSONWebKeySet.Key {
    /// nil for a key that is not for signatures, or of a kind that is not known here (RFC 7517, section 5, has it ignored).
    init?(_ json: JSONValue) {
        // A restriction of the wrong type cannot be kept to.
        if let use = json["use"]?.unlessNull, use != "sig" { return nil }
        if let operations = json["key_ops"]?.unlessNull, operations.array?.contains("verify") != true { return nil }
        for name in ["kid", "alg"] where json[name]?.unlessNull != nil && json[name]?.string == nil { return nil }
        let number = { (name: String) in json[name]?.string.flatMap { Base64.urlDecoded($0.utf8) } }
        switch json["kty"]?.string {
        case "RSA":
            guard let modulus = number("n"), let exponent = number("e") else { return nil }
            numbers = .rsa(modulus: modulus, exponent: exponent)
        case "EC":
            guard json["crv"] == "P-256", let x = number("x"), let y = number("y") else { return nil }
            numbers = .p256(x: x, y: y)
        default: return nil
        }
        id = json["kid"]?.string
        algorithm = json["alg"]?.string
    }

    func fits(_ scheme: SignatureScheme) -> Bool {
        if let algorithm, algorithm != scheme.name { return false }
        return switch (scheme, numbers) {
        case (.rs256, .rsa), (.ps256, .rsa), (.es256, .p256): true
        default: false
        }
    }
}
