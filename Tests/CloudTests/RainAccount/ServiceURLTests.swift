// SPDX-License-Identifier: Apache-2.0
import RainAccount
import Testing

@Suite("Base URLs of services")
struct ServiceURLTests {
    @Test(
        "a URL belongs to a service only if every parser agrees",
        arguments: [
            ("https://api.example.com/v1/user", true), ("https://api.example.com/v1/", true),
            ("https://api.example.com/v1/user?next=../x", true), ("https://api.example.com/v1/.hidden/..x", true),
            ("https://api.example.com/v1", false), ("https://api.example.com/v10/user", false),
            ("https://api.example.com/v1@other.example/user", false),
            ("https://api.example.com.other.example/v1/", false),
            ("https://api.example.com/v1/../v2/user", false), ("https://api.example.com/v1/./user", false),
            ("https://api.example.com/v1/..", false), ("https://api.example.com/v1/%2e%2E/v2", false),
            ("https://api.example.com/v1/.%2e/v2", false), ("https://api.example.com/v1/..?x", false),
            ("https://api.example.com/v1/..\\v2", false),
            ("https://api.example.com/v1/x\\\u{301}v2", false), ("https://api.example.com/v1/../\u{301}v2", false),
            ("https://api.example.com/v1/Ж/x\u{301}", true), ("http://api.example.com/v1/user", false),
        ])
    func below(url: String, isBelow: Bool) throws {
        #expect(try ServiceURL("https://api.example.com/v1/").isBase(of: url) == isBelow)
    }
}
