// SPDX-License-Identifier: Apache-2.0

/// RFC 4648, the two alphabets that OAuth 2.0 uses.
package enum Base64 {
    /// Section 5, without padding: verifiers, challenges, states (RFC 7636, appendix A).
    package static func urlEncoded(_ bytes: [UInt8]) -> [UInt8] {
        encoded(bytes, alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", padding: false)
    }

    /// Section 4, padded: Basic authentication (RFC 7617).
    package static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        encoded(bytes, alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", padding: true)
    }

    private static func encoded(_ bytes: [UInt8], alphabet: String, padding: Bool) -> [UInt8] {
        let digits = Array(alphabet.utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0...group.count { text.append(digits[bits >> (18 - 6 * index) & 63]) }
            if padding { for _ in group.count..<3 { text.append(UInt8(ascii: "=")) } }
        }
        return text
    }
}
