// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCrypto
import RainCryptoOpenSSL

/// Encodes bytes as base64url (RFC 4648, section 5) without padding.
func base64URL(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 4 / 3 + 3)
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
        bits = bits << 8 | UInt32(byte)
        count += 8
        while count >= 6 {
            count -= 6
            text.append(alphabet[Int(bits >> UInt32(count)) & 0x3F])
        }
    }
    if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count)) & 0x3F]) }
    return String(decoding: text, as: UTF8.self)
}

/// Returns nil for text that is not canonical base64url: another alphabet, padding, an impossible length, stray bits.
func decodedBase64URL(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for digit in text.utf8 {
        let value: UInt8
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): value = 62
        case UInt8(ascii: "_"): value = 63
        default: return nil
        }
        bits = bits << 6 | UInt32(value)
        count += 6
        if count >= 8 {
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
    }
    guard count < 6, bits & (1 << UInt32(count) - 1) == 0 else { return nil }
    return bytes
}

/// Encodes bytes as base64 (RFC 4648, section 4): the standard alphabet, padded.
func base64(_ bytes: [UInt8]) -> String {
    let text = base64URL(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
    return String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
}

/// Returns nil for text that is not padded, canonical base64. Line breaks are skipped, because some encoders add them.
func decodedBase64(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.utf8.filter { $0 != 0x0A && $0 != 0x0D }
    guard digits.count.isMultiple(of: 4), !digits.contains(UInt8(ascii: "-")), !digits.contains(UInt8(ascii: "_"))
    else {
        return nil
    }
    let padding = digits.suffix(2).count { $0 == UInt8(ascii: "=") }
    let url = digits.dropLast(padding).map {
        $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
    }
    return decodedBase64URL(String(decoding: url, as: UTF8.self))
}

/// Returns a random UUID (RFC 9562, version 4) in lower case.
func makeUUID() -> String {
    var random = OpenSSLRandom()
    var bytes = random.bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = lowercaseHex(bytes)
    var text = ""
    for (index, digit) in digits.enumerated() {
        if [8, 12, 16, 20].contains(index) { text.append("-") }
        text.append(digit)
    }
    return text
}

func lowercaseHex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// Returns the bytes of hex digits of either case, two each; nil for other text.
func bytes(ofHex text: String) -> [UInt8]? {
    let digits = text.utf8.compactMap(hexDigit)
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// Returns a random token without meaning: lower-case hex of that many bytes.
func opaqueToken(bytes count: Int = 20) -> String {
    var random = OpenSSLRandom()
    return lowercaseHex(random.bytes(count))
}

/// Returns random letters and digits.
func alphanumericToken(_ count: Int) -> String {
    var random = OpenSSLRandom()
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    return String(decoding: random.bytes(count).map { alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
}

/// Returns a date such as `2014-01-05 11:57:26Z` from seconds since 1970.
func utcDate(_ seconds: Int64, separator: String = " ") -> String {
    var time = time_t(seconds)
    var date = tm()
    gmtime_r(&time, &date)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(date.tm_year + 1900)-\(two(date.tm_mon + 1))-\(two(date.tm_mday))"
    return "\(day)\(separator)\(two(date.tm_hour)):\(two(date.tm_min)):\(two(date.tm_sec))Z"
}

/// Returns the seconds since 1970 of a date such as `2014-01-05 11:57:26`. An offset from UTC may follow in the format of ISO 8601: `Z`,
/// `+01`, `+0100`, `-05:30`, also after a space. Without an offset it is UTC. Nil for other text.
func seconds(ofDate text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 19, let offset = seconds(ofOffset: bytes[19...]) else { return nil }
    func number(_ range: Range<Int>) -> Int32? {
        var value: Int32 = 0
        for byte in bytes[range] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int32(byte - 0x30)
        }
        return value
    }
    let separators: [(Int, String)] = [(4, "-"), (7, "-"), (10, " "), (13, ":"), (16, ":")]
    guard separators.allSatisfy({ bytes[$0] == $1.utf8.first || $0 == 10 && bytes[$0] == UInt8(ascii: "T") }),
        let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
        let minute = number(14..<16), let second = number(17..<19), year >= 1970, (1...12).contains(month),
        (1...31).contains(day), hour < 24, minute < 60, second < 61
    else { return nil }
    var date = tm()
    (date.tm_year, date.tm_mon, date.tm_mday) = (year - 1900, month - 1, day)
    (date.tm_hour, date.tm_min, date.tm_sec) = (hour, minute, second)
    return Int64(timegm(&date)) - offset
}

/// Returns how far that offset is ahead of UTC.
private func seconds(ofOffset text: ArraySlice<UInt8>) -> Int64? {
    let text = text.first == 0x20 ? text.dropFirst() : text
    if text.isEmpty || text.elementsEqual("Z".utf8) { return 0 }
    var digits = Array(text.dropFirst())
    if digits.count == 5, digits[2] == UInt8(ascii: ":") { digits.remove(at: 2) }
    guard text.first == UInt8(ascii: "+") || text.first == UInt8(ascii: "-"), digits.count == 2 || digits.count == 4,
        digits.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    let numbers = digits.map { Int64($0 - 0x30) } + [0, 0]
    let (hours, minutes) = (numbers[0] * 10 + numbers[1], numbers[2] * 10 + numbers[3])
    guard hours < 24, minutes < 60 else { return nil }
    return (hours * 60 + minutes) * (text.first == UInt8(ascii: "-") ? -60 : 60)
}
