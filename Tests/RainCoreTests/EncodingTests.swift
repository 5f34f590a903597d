// SPDX-License-Identifier: Apache-2.0
import RainCore
import Testing

@Suite("Base64, read only in its canonical spelling")
struct Base64Tests {
    @Test(
        "RFC 4648, section 10: the written text is read again",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ])
    func vectors(plain: String, text: String) {
        #expect(Base64.encoded(Array(plain.utf8)) == Array(text.utf8) && Base64.text(Array(plain.utf8)) == text)
        #expect(Base64.decoded(text.utf8) == Array(plain.utf8))
        let unpadded = text.filter { $0 != "=" }
        #expect(Base64.urlEncoded(Array(plain.utf8)) == Array(unpadded.utf8))
        #expect(Base64.urlText(Array(plain.utf8)) == unpadded)
        #expect(Base64.urlDecoded(unpadded.utf8) == Array(plain.utf8))
        #expect(Base64.urlDecodedLeniently(unpadded.utf8) == Array(plain.utf8))
        #expect(Base64.urlDecodedLeniently(text.utf8) == Array(plain.utf8))
    }

    @Test("the two alphabets differ in two digits")
    func alphabets() {
        #expect(Base64.text([0xFB, 0xFF]) == "+/8=" && Base64.urlText([0xFB, 0xFF]) == "-_8")
    }

    @Test("every byte in either alphabet")
    func everyByte() {
        let bytes = Array(UInt8.min...UInt8.max) + [0xFB, 0xFF]
        for count in 0...bytes.count {
            let part = Array(bytes.suffix(count))
            #expect(Base64.decoded(Base64.encoded(part)) == part)
            #expect(Base64.urlDecoded(Base64.urlEncoded(part)) == part)
        }
    }

    @Test(
        "another spelling of the same bytes is refused",
        arguments: ["Zh", "Zm9", "Zg==", "Z", "Zg=", "Zm8+", "Z m8", "Zm9v\n"])
    func notCanonical(text: String) { #expect(Base64.urlDecoded(text.utf8) == nil) }

    @Test(
        "padding is required where it belongs and refused elsewhere",
        arguments: ["Zg", "Zg=", "Zh==", "Zm9v====", "====", "=", "Zg==Zg==", "Zm8_", "Zg===Zg="])
    func padding(text: String) { #expect(Base64.decoded(text.utf8) == nil) }

    @Test("a token that is only read may have padding and unused bits", arguments: ["Zh", "Zh==", "Zg=", "Zg"])
    func lenient(text: String) { #expect(Base64.urlDecodedLeniently(text.utf8) == [0x66]) }

    @Test("even so, other text is not base64url", arguments: ["Z", "Z===", "Zg===", "Z+8", "Zg==Zg"])
    func notLenient(text: String) { #expect(Base64.urlDecodedLeniently(text.utf8) == nil) }
}

@Suite("Hexadecimal digits")
struct HexTests {
    @Test("every byte is written in lower case, and read in either case")
    func everyByte() {
        for byte in UInt8.min...UInt8.max {
            let text = Hex.text([byte])
            #expect(text == (byte < 16 ? "0" : "") + String(byte, radix: 16))
            #expect(Hex.encoded([byte]) == Array(text.utf8))
            #expect(Hex.decoded(text.utf8) == [byte] && Hex.decoded(text.uppercased().utf8) == [byte])
        }
        #expect(Hex.text([UInt8]()).isEmpty && Hex.decoded("".utf8)?.isEmpty == true)
    }

    @Test("other text is refused", arguments: ["0", "0x", "123", "0g", "+1", "-1", " 1", "1\u{FF11}"])
    func refused(text: String) { #expect(Hex.decoded(text.utf8) == nil) }
}

@Suite("Percent-encoding")
struct PercentEncodingTests {
    @Test("all but RFC 3986's unreserved characters is escaped, and read again")
    func encoding() {
        let unreserved = "ABCXYZabcxyz0189-._~"
        #expect(PercentEncoding.encoded(unreserved) == unreserved)
        #expect(PercentEncoding.encoded("a b/é+%") == "a%20b%2F%C3%A9%2B%25")
        let text = String(String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init(_:))))
        #expect(PercentEncoding.decoded(PercentEncoding.encoded(text).utf8) == Array(text.utf8))
    }

    @Test(
        "a percent sign without two digits remains",
        arguments: [
            ("100%", "100%"), ("%4", "%4"), ("%4g", "%4g"), ("%%41", "%A"), ("%+1", "%+1"), ("%c3%A9", "é"),
            ("a+b", "a+b"),
        ])
    func incomplete(text: String, decoded: String) {
        #expect(PercentEncoding.decoded(text.utf8) == Array(decoded.utf8))
    }

    @Test("a plus sign is a space only in a form")
    func plus() { #expect(PercentEncoding.decoded("a+b%2B".utf8, plusIsSpace: true) == Array("a b+".utf8)) }
}
