// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// A JSON Web Signature in its compact form (RFC 7515, section 7.1), taken apart and not checked.
package struct JSONWebSignature: Sendable {
    /// `alg`, by the names of RFC 7518, section 3.1; `none` for a token that nobody signed.
    package var algorithm: String
    /// `kid`: which of the signer's keys it was.
    package var keyID: String?
    /// What is signed: header and payload as they came.
    package var message: [UInt8]
    package var signature: [UInt8]

    /// Tokens are a few kilobytes; anything much longer is no token.
    private static let maximumLength = 64 << 10
    /// A header may carry its certificates (`x5c`).
    private static let limits = JSONLimits(maximumBytes: 32 << 10, maximumDepth: 8, maximumValues: 200)

    /// - Throws: `malformed` for what is no signed token, `tooLarge`, and `conflicting` for one that demands what is not done here
    ///   (`crit`, section 4.1.11).
    package init(_ token: Secret) throws(OAuth2FormatError) {
        let text = token.revealBytes()
        guard text.count <= Self.maximumLength else { throw OAuth2FormatError(.tooLarge, "it is too long") }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count != 5 else { throw OAuth2FormatError(.malformed, "it is encrypted") }
        guard parts.count == 3, let signature = Base64.urlDecoded(parts[2]),
            let header = Base64.urlDecoded(parts[0]).flatMap({ try? JSONValue(parsing: $0, limits: Self.limits) }),
            let algorithm = header["alg"]?.string
        else { throw OAuth2FormatError(.malformed, "it is no signed token") }
        guard header["crit"] == nil else {
            throw OAuth2FormatError(.conflicting, "it demands an extension that is not known here (crit)")
        }
        guard header["kid"]?.unlessNull == nil || header["kid"]?.string != nil else {
            throw OAuth2FormatError(.malformed, "its header's \"kid\" is not a text")
        }
        self.algorithm = algorithm
        keyID = header["kid"]?.string
        message = Array(text[..<parts[1].endIndex])
        self.signature = signature
    }
}
