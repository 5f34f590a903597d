// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainCore

/// Reads what a JSON Web Token (RFC 7519) says about itself. Nothing is verified: the server does that, and a client that
/// believes its own token deceives only itself.
package enum JSONWebToken {
    /// Tokens are a few kilobytes; anything much longer is no token.
    private static let limits = JSONLimits(maximumBytes: 32 << 10, maximumDepth: 16, maximumValues: 2000)

    package static func claims(of token: Secret) -> JSONValue? { object(1, of: token) }

    /// `alg` of the header (RFC 7515, section 4.1.1); nil if there is none.
    package static func algorithm(of token: Secret) -> String? { object(0, of: token)?["alg"]?.string }

    /// Checks the times that a token says of itself. One of the wrong type would count as a token that never ends.
    /// - Throws: `malformedAnswer`, naming the claim. A token that is not a JSON Web Token is not checked.
    package static func checkTimes(of token: Secret) throws(AccountError) {
        guard let claims = claims(of: token) else { return }
        do throws(JSONError) {
            let members = try JSONMembers(claims)
            for name in ["exp", "iat"] { _ = try members.number(name) }
        } catch {
            throw AccountError(.malformedAnswer, message: "the access token that came cannot be used: \(error.message)")
        }
    }

    /// Whether the bytes have the form of a token: three parts, or five of an encrypted one (RFC 7516), of which the first is a JSON object.
    /// Standard base64 counts too, as SPiD has it.
    package static func hasForm(_ token: Secret) -> Bool {
        let header: [UInt8]? = token.reveal { bytes in
            let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard [3, 5].contains(parts.count), let first = parts.first, first.count <= 44 << 10 else { return nil }
            let digits: [UInt8] = first.map { digit in
                switch digit {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: digit
                }
            }
            return digits.withUnsafeBufferPointer { base64URLDecoded($0[...]) }
        }
        guard let header else { return false }
        return (try? JSONValue(parsing: header, limits: limits))?.members != nil
    }

    /// The JSON object in the header (0) or the payload (1).
    private static func object(_ index: Int, of token: Secret) -> JSONValue? {
        let text: [UInt8]? = token.reveal { bytes in
            let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard parts.count == 3, parts[index].count <= 44 << 10 else { return nil }
            return base64URLDecoded(parts[index])
        }
        guard let text, let object = try? JSONValue(parsing: text, limits: limits), object.members != nil else {
            return nil
        }
        return object
    }
}

/// RFC 4648, section 5, with or without padding; nil for anything else.
func base64URLDecoded(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8]? {
    var digits = text
    while digits.last == UInt8(ascii: "="), text.count - digits.count < 2 { digits = digits.dropLast() }
    guard digits.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count * 3 / 4)
    var pending: UInt32 = 0
    var bits = 0
    for digit in digits {
        let value: UInt8
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): value = 62
        case UInt8(ascii: "_"): value = 63
        default: return nil
        }
        pending = pending << 6 | UInt32(value)
        bits += 6
        if bits >= 8 {
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
        }
    }
    return bytes
}
