// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import TestSupport
import Testing

@testable import RainHTTPCurl

@Suite("Proxies")
struct ProxyTests {
    @Test(
        "addresses of this machine and of private networks are never reached through a proxy",
        arguments: [
            ("localhost", true), ("LOCALHOST", true), ("a.localhost", true), ("127.0.0.1", true), ("127.9.9.9", true),
            ("[::1]", true), ("[::ffff:127.0.0.1]", true), ("10.1.2.3", true), ("172.16.0.1", true),
            ("172.31.255.255", true), ("192.168.4.1", true), ("169.254.1.1", true), ("[fe80::1%25eth0]", true),
            ("[fd00::1]", true), ("board.local", true), ("172.32.0.1", false), ("172.15.0.1", false),
            ("192.169.0.1", false), ("11.0.0.1", false), ("128.0.0.1", false), ("[2001:db8::1]", false),
            ("api.rainmaker.espressif.com", false), ("localhost.example.com", false), ("127.0.0.1.example.com", false),
        ])
    func nearby(host: String, expected: Bool) {
        #expect(isNearby(host) == expected)
    }
}
