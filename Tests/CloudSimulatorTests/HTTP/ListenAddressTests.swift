// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CloudSimulator

@Suite struct ListenAddressTests {
    @Test(
        "host and port are read, the host in figures only",
        arguments: [
            ("127.0.0.1:0", "127.0.0.1", 0), ("0.0.0.0:39187", "0.0.0.0", 39187), ("[::1]:80", "::1", 80),
            ("localhost:8080", "127.0.0.1", 8080),
        ] as [(String, String, UInt16)])
    func accepted(text: String, host: String, port: UInt16) {
        #expect(ListenAddress(text) == ListenAddress(host: host, port: port))
    }

    @Test(
        "anything else is refused",
        arguments: ["", "8080", "127.0.0.1", "127.0.0.1:", ":80", "host:80", "127.0.0.1:65536"])
    func refused(text: String) { #expect(ListenAddress(text) == nil) }
}
