// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL

/// Returns nil for text that is not padded, canonical base64. Line breaks are skipped, because some encoders add them.
func decodedBase64(_ text: some StringProtocol) -> [UInt8]? {
    Base64.decoded(text.utf8.filter { $0 != 0x0A && $0 != 0x0D })
}

/// Returns a random UUID (RFC 9562, version 4) in lower case.
func makeUUID() -> String {
    var random = OpenSSLRandom()
    return String(decoding: Hex.uuid(randomBytes: random.bytes(16)), as: UTF8.self)
}

/// Returns a random token without meaning: lower-case hex of that many bytes.
func opaqueToken(bytes count: Int = 20) -> String {
    var random = OpenSSLRandom()
    return Hex.text(random.bytes(count))
}

/// Returns random letters and digits.
func alphanumericToken(_ count: Int) -> String {
    var random = OpenSSLRandom()
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    return String(decoding: random.bytes(count).map { alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
}

/// Returns a date such as `2014-01-05 11:57:26Z` from seconds since 1970.
func utcDate(_ seconds: Int64) -> String {
    CivilTime(secondsSince1970: Int(seconds)).text() + "Z"
}

/// Returns the seconds since 1970 of a date such as `2014-01-05 11:57:26`. An offset from UTC may follow in the format of ISO 8601: `Z`,
/// `+01`, `+0100`, `-05:30`, also after a space. Without an offset it is UTC. Nil for other text.
func seconds(ofDate text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 19, let offset = seconds(ofOffset: bytes[19...]),
        let time = CivilTime(String(decoding: bytes[..<19], as: UTF8.self))
    else { return nil }
    return Int64(time.secondsSince1970) - offset
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
