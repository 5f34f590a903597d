// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import rainctl

@Suite("Values in the configuration that curl reads")
struct CurlConfigurationTests {
    @Test(
        "a value stays one value on one line",
        arguments: [
            ("a b", #""a b""#), (#"a"b"#, #""a\"b""#), (#"a\b"#, #""a\\b""#), ("a\nb", #""a\nb""#),
            ("a\rb", #""a\rb""#),
            // One `Character` each.
            ("a\r\nheader = x", #""a\r\nheader = x""#), ("a\"\u{301}b", "\"a\\\"\u{301}b\""),
            ("a\"\u{200D}b", "\"a\\\"\u{200D}b\""), ("a\\\u{301}", "\"a\\\\\u{301}\""),
            ("a\\\u{200D}", "\"a\\\\\u{200D}\""),
        ])
    func quoted(value: String, expected: String) {
        #expect(CurlCommand.quoted(value) == expected)
    }

    @Test(
        "a combining mark hides nothing that is refused",
        arguments: [
            ["--header", "@\u{301}file"], ["-H@\u{200D}file"], ["--write-out", "@\u{301}file"],
            // U+0600 combines with the character behind it.
            ["--write-out", "\u{600}%{json}"],
        ])
    func refused(arguments: [String]) {
        let failure = #expect(throws: CommandFailure.self) {
            try CurlArguments(arguments + ["/v1/user2"], base: "https://a.example", hasSecretURL: true) { _ in true }
        }
        #expect(failure?.reason == "refused_option")
    }
}
