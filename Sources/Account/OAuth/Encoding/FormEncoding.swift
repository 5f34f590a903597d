// SPDX-License-Identifier: Apache-2.0

/// `application/x-www-form-urlencoded`, as OAuth 2.0 uses it in queries and bodies (RFC 6749, appendix B).
public enum FormEncoding {
    /// A name or a value as it stands in a body: a space is `+`, and all but letters, digits and `*-._` is escaped.
    public static func encoded(_ text: String) -> String {
        String(decoding: encoded(text.utf8), as: UTF8.self)
    }

    static func encoded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        escaped(bytes) { byte in
            if byte == UInt8(ascii: " ") { return UInt8(ascii: "+") }
            return isLetterOrDigit(byte) || "*-._".utf8.contains(byte) ? byte : nil
        }
    }

    /// A name or a value as it stands in a URL's query: all but RFC 3986's unreserved characters is escaped, a space being
    /// `%20`. That reads the same as a form and as a plain query.
    public static func encodedForQuery(_ text: String) -> String {
        let bytes = escaped(text.utf8) { byte in
            isLetterOrDigit(byte) || "-._~".utf8.contains(byte) ? byte : nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func escaped(_ bytes: some Sequence<UInt8>, literal: (UInt8) -> UInt8?) -> [UInt8] {
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

    /// The text that was escaped; nil if an escape is cut or no hexadecimal number, or if the result is not UTF-8.
    public static func decoded(_ text: some Collection<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexadecimal), let low = rest.next().flatMap(hexadecimal) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
}

/// RFC 6749, appendix A: what codes, tokens, states and client ids are made of.
func isVisible(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }
