// SPDX-License-Identifier: Apache-2.0
import RainAccount
import Testing

@Suite("Base64, read only in its canonical spelling")
struct Base64Tests {
    @Test(
        "RFC 4648, section 10: the written text is read again",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ])
    func vectors(plain: String, text: String) {
        #expect(Base64.encoded(Array(plain.utf8)) == Array(text.utf8))
        #expect(Base64.decoded(text.utf8) == Array(plain.utf8))
        let unpadded = text.filter { $0 != "=" }
        #expect(Base64.urlEncoded(Array(plain.utf8)) == Array(unpadded.utf8))
        #expect(Base64.urlDecoded(unpadded.utf8) == Array(plain.utf8))
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
        "another spelling of the same bytes is refused", arguments: ["Zh", "Zm9", "Zg==", "Z", "Zg=", "Zm8+", "Z m8"])
    func notCanonical(text: String) { #expect(Base64.urlDecoded(text.utf8) == nil) }

    @Test(
        "padding is required where it belongs and refused elsewhere",
        arguments: ["Zg", "Zg=", "Zh==", "Zm9v====", "====", "=", "Zg==Zg==", "Zm8_", "Zg===Zg="])
    func padding(text: String) { #expect(Base64.decoded(text.utf8) == nil) }
}
