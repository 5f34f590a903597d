// SPDX-License-Identifier: Apache-2.0
import RainCore
import Testing

@Suite("Addresses in messages")
struct AddressTextTests {
    @Test(
        "a password in an address is left out",
        arguments: [
            ("https://bob:TOPSECRET@api.example.com/v1", "https://…@api.example.com/v1"),
            ("bob:TOPSECRET@board:80", "…@board:80"), ("ftp://TOPSECRET@host", "ftp://…@host"),
            ("https://bob:TOP@SECRET@host", "https://…@host"), ("https://bob:TOP/SECRET@host", "https://…@host"),
            ("http://bob:TOPSECRET@[::1]:80/", "http://…@[::1]:80/"),
            ("http://bob:TOPSECRET@\u{301}host", "http://…@\u{301}host"),
        ])
    func password(address: String, shown: String) { #expect(ShownText.withoutUserInfo(address) == shown) }

    @Test(
        "an address without one is shown as it is",
        arguments: [
            "", "https://api.example.com:8443/v1", "/v1/user?user_name=bob@example.com", "[::1]:80", "/dev/ttyUSB0",
            "https://api.example.com/v1/user?user_name=bob@example.com", "http://[::1]:80/a@b", "/dev/serial/a:b@c",
        ])
    func noPassword(address: String) { #expect(ShownText.withoutUserInfo(address) == address) }
}
