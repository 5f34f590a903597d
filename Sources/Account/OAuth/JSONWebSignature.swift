// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainJSON

/// A JSON Web Signature in its compact form (RFC 7515, section 7.1), split into its parts and not checked.
package struct JSONWebSignature: Sendable {
    /// `alg`, by the names of RFC 7518, section 3.1; `none` for an unsigned token.
    package var algorithm: String
    /// `kid`: the id of the signer's key.
    fileprivate var keyID: String?
    /// The signed bytes: header and payload, unchanged.
    package var message: [UInt8]
    package var signature: [UInt8]

    /// The maximum length in bytes. Tokens have a few kilobytes; anything much longer is not a token.
    private static let maximumLength = 64 << 10
    /// Limits for a header, which may contain certificates (`x5c`).
    private static let limits = JSONLimits(maximumBytes: 32 << 10, maximumDepth: 8, maximumValues: 200)

    /// - Throws: `malformed` for text that is not a signed token, `tooLarge`, and `conflicting` for a token with an unsupported requirement
    ///   (`crit`, section 4.1.11).
    package init(_ token: Secret) throws(OAuth2FormatError) {
        let text = token.revealBytes()
        guard text.count <= Self.maximumLength else { throw OAuth2FormatError(.tooLarge, "it is too long") }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count != 5 else { throw OAuth2FormatError(.malformed, "it is encrypted") }
        guard parts.count == 3, let signature = Base64.urlDecoded(parts[2]),
            let header = Base64.urlDecoded(parts[0]).flatMap({ try? JSONValue(parsing: $0, limits: Self.limits) }),
            let algorithm = header["alg"]?.string
        else { throw OAuth2FormatError(.malformed, "it is not a signed token") }
        guard header["crit"] == nil else {
            throw OAuth2FormatError(.conflicting, "it requires an extension that is not supported (crit)")
        }
        guard header["kid"]?.unlessNull == nil || header["kid"]?.string != nil else {
            throw OAuth2FormatError(.malformed, "its header's \"kid\" is not a string")
        }
        self.algorithm = algorithm
        keyID = header["kid"]?.string
        message = Array(text[..<parts[1].endIndex])
        self.signature = signature
    }
}

extension SignatureScheme {
    /// The name in tokens and key sets (RFC 7518, section 3.1). It is not the raw value of the type. RainCrypto is compiled for boards too,
    /// and comparing text needs Unicode tables that boards do not have.
    package var name: String {
        switch self {
        case .rs256: "RS256"
        case .es256: "ES256"
        case .ps256: "PS256"
        }
    }

    /// Returns nil for other names.
    package init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}

/// The public keys that a server publishes (RFC 7517, section 5). Keys that cannot check a supported signature are omitted.
package struct JSONWebKeySet: Sendable, Equatable {
    package struct Key: Sendable, Equatable {
        /// `kid`: the key's id.
        var id: String?
        /// `alg`: the only algorithm of the key; nil for any that fits.
        var algorithm: String?
        package var numbers: PublicKeyNumbers
    }

    package private(set) var keys: [Key]

    /// The maximum size of the document in bytes.
    package static let maximumBytes = 256 << 10
    /// The maximum number of keys. Servers have two or three keys, some a dozen.
    private static let maximumCount = 100

    /// - Throws: `malformed` for JSON that is not a key set, `tooLarge` for too many keys.
    package init(_ json: JSONValue) throws(OAuth2FormatError) {
        guard let list = json["keys"]?.array else {
            throw OAuth2FormatError(.malformed, "a key set must be a JSON object with keys")
        }
        guard list.count <= Self.maximumCount else {
            throw OAuth2FormatError(.tooLarge, "the key set has too many keys")
        }
        keys = list.compactMap(Key.init)
    }

    /// Returns the keys that may have signed it: those with the id in its header, or all if the header has none.
    package func keys(for signature: JSONWebSignature, as scheme: SignatureScheme) -> [Key] {
        let fitting = keys.filter { $0.fits(scheme) }
        guard let id = signature.keyID else { return fitting }
        // A server with one key may omit the key's id in the set.
        return fitting.filter { $0.id == id || $0.id == nil }
    }
}

extension JSONWebKeySet.Key {
    /// Returns nil for a key that is not for signatures or not of a supported kind (RFC 7517, section 5: such keys are ignored).
    fileprivate init?(_ json: JSONValue) {
        // A restriction of the wrong type cannot be followed.
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

    fileprivate func fits(_ scheme: SignatureScheme) -> Bool {
        if let algorithm, algorithm != scheme.name { return false }
        return switch (scheme, numbers) {
        case (.rs256, .rsa), (.ps256, .rsa), (.es256, .p256): true
        default: false
        }
    }
}
