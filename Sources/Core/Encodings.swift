// SPDX-License-Identifier: Apache-2.0

/// Base64 (RFC 4648), in the standard alphabet and in the one for URLs.
package enum Base64 {
    /// Encodes by section 4, with padding.
    package static func text(_ bytes: [UInt8]) -> String { String(decoding: encoded(bytes), as: UTF8.self) }

    /// Encodes by section 5, without padding.
    package static func urlText(_ bytes: [UInt8]) -> String { String(decoding: urlEncoded(bytes), as: UTF8.self) }

    /// Encodes by section 4, with padding. The result is bytes, so that a secret never becomes a `String`.
    package static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        encoded(bytes, alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", padding: true)
    }

    /// Encodes by section 5, without padding: for verifiers, challenges and states (RFC 7636, appendix A).
    package static func urlEncoded(_ bytes: [UInt8]) -> [UInt8] {
        encoded(bytes, alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", padding: false)
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

    /// Decodes section 5 without padding. Returns nil for anything but the canonical spelling.
    ///
    /// With two spellings of one value, a signed text could be changed without changing its value.
    package static func urlDecoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        withBytes(of: text) { decoded($0[...], extra: (UInt8(ascii: "-"), UInt8(ascii: "_")), isCanonical: true) }
    }

    /// Decodes section 5 with or without padding, also if unused bits are set. Returns nil for anything else. Only for tokens that are
    /// read and not verified.
    package static func urlDecodedLeniently(_ text: some Collection<UInt8>) -> [UInt8]? {
        withBytes(of: text) { bytes in
            let digits = bytes.dropLast(padding(of: bytes))
            return decoded(digits, extra: (UInt8(ascii: "-"), UInt8(ascii: "_")), isCanonical: false)
        }
    }

    /// Decodes section 4 with padding, in its canonical spelling. Returns nil for anything else.
    package static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        withBytes(of: text) { bytes in
            guard bytes.count.isMultiple(of: 4) else { return nil }
            let digits = bytes.dropLast(padding(of: bytes))
            return decoded(digits, extra: (UInt8(ascii: "+"), UInt8(ascii: "/")), isCanonical: true)
        }
    }

    /// Calls `body` with the bytes of a text. They are not copied if they are in one piece, as those of a `Secret` are.
    private static func withBytes(
        of text: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> [UInt8]?
    ) -> [UInt8]? {
        if let result = text.withContiguousStorageIfAvailable(body) { return result }
        return Array(text).withUnsafeBufferPointer(body)
    }

    /// Returns how many of the last two bytes are padding.
    private static func padding(of text: UnsafeBufferPointer<UInt8>) -> Int {
        text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    }

    private static func decoded(
        _ digits: Slice<UnsafeBufferPointer<UInt8>>, extra: (UInt8, UInt8), isCanonical: Bool
    ) -> [UInt8]? {
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
        return pending == 0 || !isCanonical ? bytes : nil
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

/// Hexadecimal digits, two for each byte.
package enum Hex {
    /// Encodes bytes in lower case.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: encoded(bytes), as: UTF8.self)
    }

    /// Encodes bytes in lower case. The result is bytes, so that a secret never becomes a `String`.
    package static func encoded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// Returns a version 4 UUID (RFC 9562, 5.4) from 16 random bytes, in lower case. It is bytes, because some UUIDs are secrets.
    package static func uuid(randomBytes: [UInt8]) -> [UInt8] {
        precondition(randomBytes.count == 16, "a UUID has 16 bytes")
        var bytes = randomBytes
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let groups = [bytes[0..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10..<16]]
        return Array(groups.map(encoded).joined(separator: [UInt8(ascii: "-")]))
    }

    /// Decodes digits of either case. Returns nil for anything else, and for an odd number of digits.
    package static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        let digits = text.compactMap(value)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// Returns the value of a digit of either case; nil for another byte.
    package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Percent-encoding (RFC 3986, section 2.1). `FormEncoding` of RainAccount has the rules for forms, which differ.
package enum PercentEncoding {
    /// Escapes all but the unreserved characters (section 2.3), for a path segment or a query.
    package static func encoded(_ text: String) -> String {
        let bytes = encoded(text.utf8) { $0.isASCIILetterOrDigit || "-._~".utf8.contains($0) ? $0 : nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Escapes the bytes for which `literal` returns nil, and writes its result for the others.
    package static func encoded(_ bytes: some Sequence<UInt8>, literal: (UInt8) -> UInt8?) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in bytes {
            if let literal = literal(byte) {
                result.append(literal)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return result
    }

    /// Decodes `%41` as an A. A percent sign without two hexadecimal digits remains.
    ///
    /// - Parameter plusIsSpace: whether `+` is a space, as in forms and queries.
    package static func decoded(_ text: some Sequence<UInt8>, plusIsSpace: Bool = false) -> [UInt8] {
        let source = Array(text)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count)
        var index = 0
        while index < source.count {
            let byte = source[index]
            if byte == UInt8(ascii: "%"), let escaped = Hex.decoded(source[(index + 1)...].prefix(2)), !escaped.isEmpty
            {
                bytes += escaped
                index += 3
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return bytes
    }
}

extension UInt8 {
    /// Whether this byte is a letter or a digit of ASCII.
    package var isASCIILetterOrDigit: Bool { (0x30...0x39).contains(self) || (0x61...0x7A).contains(self | 0x20) }
}
