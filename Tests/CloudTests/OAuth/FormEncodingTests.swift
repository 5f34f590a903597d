// SPDX-License-Identifier: Apache-2.0
import RainAccount
import Testing

@Suite("Form encoding")
struct FormEncodingTests {
    @Test("RFC 6749, appendix B, byte for byte")
    func published() {
        #expect(FormEncoding.encoded(" %&+£€") == "+%25%26%2B%C2%A3%E2%82%AC")
        #expect(FormEncoding.decoded("+%25%26%2B%C2%A3%E2%82%AC".utf8) == " %&+£€")
    }

    @Test("a query escapes all but the unreserved characters of RFC 3986")
    func query() {
        let unreserved = "ABCXYZabcxyz0189-._~"
        #expect(FormEncoding.encodedForQuery(unreserved) == unreserved)
        #expect(
            FormEncoding.encodedForQuery("a b*/:?#[]@!$&'()+,;=é")
                == "a%20b%2A%2F%3A%3F%23%5B%5D%40%21%24%26%27%28%29%2B%2C%3B%3D%C3%A9")
    }

    @Test("each byte is decoded from either form")
    func everyCharacter() {
        for value in (0...0x10FFFF as ClosedRange<UInt32>).filter({ $0 < 0x300 || $0 % 4099 == 0 }) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = "<\(Character(scalar))>"
            #expect(FormEncoding.decoded(FormEncoding.encoded(text).utf8) == text)
            #expect(FormEncoding.decoded(FormEncoding.encodedForQuery(text).utf8) == text)
        }
    }

    @Test(
        "an invalid escape, and invalid UTF-8, are refused",
        arguments: ["%", "%4", "a%", "%zz", "%+1", "%C3", "%FF", "%ED%A0%80"])
    func refused(text: String) {
        #expect(FormEncoding.decoded(text.utf8) == nil)
    }

    @Test("lists keep their order; repeated names are refused; pieces without value are empty")
    func lists() throws {
        let list = try ParameterList(parsing: "b=2&&a=%201&c".utf8)
        #expect(list.names == ["b", "a", "c"])
        #expect(list["a"] == " 1")
        #expect(list["c"] == "")
        #expect(list["d"] == nil)
        #expect(list.query == "b=2&a=%201&c=")
        #expect(
            formatError { () throws(OAuth2FormatError) in try ParameterList(parsing: "a=1&%61=2".utf8) } == .duplicate)
        let many = (0...64).map { "n\($0)=" }.joined(separator: "&")
        #expect(formatError { () throws(OAuth2FormatError) in try ParameterList(parsing: many.utf8) } == .tooLarge)
        let long = "a=" + String(repeating: "x", count: ParameterList.maximumBytes)
        #expect(formatError { () throws(OAuth2FormatError) in try ParameterList(parsing: long.utf8) } == .tooLarge)
    }
}

/// The code of the error that `body` must throw.
func formatError<Result>(_ body: () throws(OAuth2FormatError) -> Result) -> OAuth2FormatError.Code? {
    do throws(OAuth2FormatError) {
        _ = try body()
        return nil
    } catch {
        return error.code
    }
}
