// SPDX-License-Identifier: Apache-2.0

/// Base64 (RFC 4648) in the two alphabets that OAuth 2.0 uses.
package enum Base64 {
    /// Encodes by section 5, without padding: for verifiers, challenges and states (RFC 7636, appendix A).
    package static func urlEncoded(_ bytes: [UInt8]) -> [UInt8] {
        encoded(bytes, alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", padding: false)
    }

    /// Encodes by section 4, with padding: for Basic authentication (RFC 7617).
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

extension Base64 {
    /// Decodes section 5 without padding. Returns nil for anything but the canonical spelling.
    ///
    /// With two spellings of one value, a signed text could be changed without changing its value.
    package static func urlDecoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        decoded(Array(text), extra: (UInt8(ascii: "-"), UInt8(ascii: "_")))
    }

    /// Decodes section 4 with padding, in its canonical spelling. Returns nil for anything else.
    package static func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var digits = Array(text)
        guard digits.count % 4 == 0 else { return nil }
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        guard let bytes = decoded(digits, extra: (UInt8(ascii: "+"), UInt8(ascii: "/"))),
            (bytes.count + 2) / 3 * 4 == Array(text).count
        else { return nil }
        return bytes
    }

    private static func decoded(_ digits: [UInt8], extra: (UInt8, UInt8)) -> [UInt8]? {
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var pending: UInt32 = 0
        var bits = 0
        for digit in digits {
            guard let value = value(of: digit, extra: extra) else { return nil }
            pending = pending << 6 | UInt32(value)
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
            pending &= (1 << UInt32(bits)) - 1
        }
        return pending == 0 ? bytes : nil
    }

    private static func value(of digit: UInt8, extra: (UInt8, UInt8)) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case extra.0: 62
        case extra.1: 63
        default: nil
        }
    }
}
