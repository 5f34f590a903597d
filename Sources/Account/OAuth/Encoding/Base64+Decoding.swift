// SPDX-License-Identifier: Apache-2.0
extension Base64 {
    /// Section 5 without padding, in the one spelling that each byte string has; nil for anything else.
    ///
    /// Two spellings of one value would let a signed text be changed without its value changing.
    package static func urlDecoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        decoded(Array(text), extra: (UInt8(ascii: "-"), UInt8(ascii: "_")))
    }

    /// Section 4 with its padding, canonical too; nil for anything else.
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
