// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainKit
import Testing

@Suite("Addresses of pictures")
struct PictureAddressTests {
    @Test(
        "https is accepted for any host, and plain http for boards' own addresses",
        arguments: [
            "https://example.com/a.png", "HTTPS://example.com/a.png", "http://192.168.4.1/capture",
            "http://192.168.4.1:81/stream?x=1", "HTTP://10.0.0.7/a", "http://172.16.3.4/a", "http://169.254.7.7/a",
            "http://[fe80::1]/a", "http://[fe80::1%eth0]:80/a", "http://[fd00::1]/a", "http://esp-cam.local/a",
            "http://localhost:8080/a", "http://127.0.0.1/a",
        ])
    func taken(address: String) {
        #expect(throws: Never.self) { try PictureAddress.check(address) }
    }

    @Test(
        "plain http is refused for any other host",
        arguments: [
            "http://example.com/a.png", "http://8.8.8.8/a", "http://172.32.0.1/a", "http://192.168.4.1.evil.example/a",
            "http://192.168.4.1@evil.example/a", "http://192.168.4.1:80@evil.example/a", "http://[2001:db8::1]/a",
            "http://192.168.4.1:80@\u{301}evil.example/a",
            "http:///a",
            "http://evil.example#192.168.4.1", "http://evil.example\\@192.168.4.1/a", "http://local/a",
            "http://0xC0A80401/a",
        ])
    func refused(address: String) {
        let error = #expect(throws: AccountError.self) { try PictureAddress.check(address) }
        #expect(error?.code == .insecureURL)
    }
}
