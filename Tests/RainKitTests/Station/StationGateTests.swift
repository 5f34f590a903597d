// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainMicroHTTP
import TestSupport
import Testing

@testable import RainKit

@Suite("The gate of a station's page")
struct StationGateTests {
    private static let session = Secret("s3ss10n-s3ss10n-s3ss10n")
    private static let token = Secret("t0ken-t0ken-t0ken")

    private static func gate(_ host: String = "127.0.0.1", port: UInt16 = 8080) -> StationGate {
        StationGate(LocalAddress(host: host, port: port), machine: "Bench-1", session: session, token: token)
    }

    private static func request(
        _ method: String = "GET", _ path: String = "/", token: String? = nil, host: [String] = ["127.0.0.1:8080"],
        cookie: Bool = true, _ more: [(name: String, value: String)] = []
    ) -> LocalRequest {
        var headers = host.map { (name: "host", value: $0) } + more
        if cookie { headers.append(("cookie", "other=1; rainkit_station_8080=s3ss10n-s3ss10n-s3ss10n")) }
        return LocalRequest(method: method, path: path, token: token, headers: headers)
    }

    @Test("a link's token opens one browser, and no second one")
    func token() {
        var gate = Self.gate()
        let link = Self.request(token: "t0ken-t0ken-t0ken", cookie: false)
        #expect(gate.judge(Self.request(token: "t0ken-t0ken-t0keN", cookie: false)) == .refused(.token))
        #expect(gate.judge(Self.request(token: "", cookie: false)) == .refused(.token))
        // Only the page itself takes it, and not for another site.
        #expect(
            gate.judge(Self.request("GET", "/events", token: "t0ken-t0ken-t0ken", cookie: false)) == .refused(.token))
        var foreign = link
        foreign.headers.append(("sec-fetch-site", "cross-site"))
        #expect(gate.judge(foreign) == .refused(.origin))
        #expect(gate.judge(link) == .welcome)
        #expect(gate.judge(link) == .refused(.token))
        #expect(gate.cookie.contains("HttpOnly") && gate.cookie.contains("SameSite=Strict"))
    }

    @Test("links that nobody opens do not pile up")
    func manyTokens() {
        var gate = Self.gate()
        for number in 0..<100 { gate.add(Secret("token-\(number)")) }
        let opened = (0..<100).filter {
            gate.judge(Self.request(token: "token-\($0)", cookie: false)) == .welcome
        }
        #expect(opened == Array(92..<100))
    }

    @Test(
        "other names, ports and addresses are not the station",
        arguments: [
            "evil.example:8080", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8081", "127.0.0.1:08080", "localhost",
            "localhost.evil.example:8080", "127.0.0.1.evil.example:8080", "127.0.0.2:8080", "[::1]:8080",
            "0.0.0.0:8080",
            "bench-1:8080", "bench-1.local:8080", "2130706433:8080", "127.1:8080", "0x7f000001:8080", "", ":8080",
            "127.0.0.1:8080:8080", "user@127.0.0.1:8080", "127.0.0.1:8080 ", " 127.0.0.1:8080", "127.0.0.1:8080/",
            "[127.0.0.1]:8080", "[::ffff:127.0.0.1]:8080",
        ])
    func hosts(_ host: String) {
        var gate = Self.gate()
        #expect(gate.judge(Self.request(host: [host])) == .refused(.host))
    }

    @Test("the station's own names are accepted", arguments: ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080"])
    func ownHosts(_ host: String) {
        var gate = Self.gate()
        #expect(gate.judge(Self.request(host: [host])) == .allowed)
    }

    @Test("a request without one host is refused")
    func hostCount() {
        var gate = Self.gate()
        #expect(gate.judge(Self.request(host: [])) == .refused(.host))
        #expect(gate.judge(Self.request(host: ["127.0.0.1:8080", "127.0.0.1:8080"])) == .refused(.host))
    }

    @Test("a station for the network has the machine's names and bare addresses, and no other name")
    func network() {
        for host in ["bench-1:8080", "Bench-1.local:8080", "192.168.1.7:8080", "[fe80::1]:8080"] {
            var gate = Self.gate("0.0.0.0")
            #expect(gate.judge(Self.request(host: [host])) == .allowed)
        }
        for host in ["localhost:8080", "evil.example:8080", "bench-1.evil.example:8080"] {
            var gate = Self.gate("0.0.0.0")
            #expect(gate.judge(Self.request(host: [host])) == .refused(.host))
        }
        var one = Self.gate("192.168.1.7")
        #expect(one.judge(Self.request(host: ["192.168.1.7:8080"])) == .allowed)
        #expect(one.judge(Self.request(host: ["192.168.1.8:8080"])) == .refused(.host))
    }

    @Test(
        "other origins are refused, even with the cookie",
        arguments: [
            "http://evil.example", "null", "", "https://127.0.0.1:8080", "http://127.0.0.1", "http://localhost:8080",
            "http://127.0.0.1:8080/", "http://127.0.0.1:8080.evil.example", "HTTP://127.0.0.1:8080", "file://",
        ])
    func origins(_ origin: String) {
        var gate = Self.gate()
        #expect(gate.judge(Self.request("GET", "/", [("origin", origin)])) == .refused(.origin))
        #expect(gate.judge(Self.request("POST", "/retry", [("origin", origin)])) == .refused(.origin))
    }

    @Test("a change needs the origin, and reading needs no foreign site")
    func changes() {
        var gate = Self.gate()
        let own = (name: "origin", value: "http://127.0.0.1:8080")
        #expect(gate.judge(Self.request("POST", "/retry", [own])) == .allowed)
        #expect(gate.judge(Self.request("POST", "/retry")) == .refused(.origin))
        #expect(gate.judge(Self.request("POST", "/retry", [own, own])) == .refused(.origin))
        for site in ["cross-site", "same-site", "", "Same-Origin"] {
            #expect(gate.judge(Self.request("GET", "/events", [("sec-fetch-site", site)])) == .refused(.origin))
        }
        #expect(gate.judge(Self.request("GET", "/events", [("sec-fetch-site", "same-origin")])) == .allowed)
    }

    @Test(
        "only the exact cookie counts",
        arguments: [
            "rainkit_station_8081=s3ss10n-s3ss10n-s3ss10n", "rainkit_station_8080=s3ss10n", "rainkit_station_8080=",
            "rainkit_station_8080", "xrainkit_station_8080=s3ss10n-s3ss10n-s3ss10n",
            "rainkit_station_8080=s3ss10n-s3ss10n-s3ss10n=", "Rainkit_station_8080=s3ss10n-s3ss10n-s3ss10n", ";;;=", "",
        ])
    func cookies(_ cookie: String) {
        var gate = Self.gate()
        #expect(gate.judge(Self.request(cookie: false, [("cookie", cookie)])) == .refused(.token))
    }

    @Test("no random request gets in without both the host and the secret")
    func random() {
        var random = SeededGenerator(seed: 34)
        let pieces = [
            "127.0.0.1:8080", "localhost:8080", "rainkit_station_8080", "=", "s3ss10n", ";", "http://", "evil", " ",
            "\"", "%",
            "t0ken",
        ]
        var gate = Self.gate()
        for _ in 0..<20_000 {
            func text() -> String {
                (0..<Int.random(in: 0...4, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined()
            }
            let names = ["host", "origin", "cookie", "sec-fetch-site", "x"]
            let headers = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                (name: names.randomElement(using: &random)!, value: text())
            }
            let request = LocalRequest(
                method: ["GET", "POST", "HEAD"].randomElement(using: &random)!, path: "/", token: text(),
                headers: headers)
            guard case .refused = gate.judge(request) else {
                Issue.record("\(request)")
                return
            }
        }
    }

    @Test(
        "an address to listen on is an IP address with a port",
        arguments: [
            "", "127.0.0.1", ":80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:80", "[127.0.0.1]:80",
            "example.com:80", "127.0.0.1:80x", "[::1]", "[::1]80",
        ])
    func badAddresses(_ text: String) {
        #expect(throws: LocalServerError.invalidAddress) { try LocalAddress(text) }
    }

    @Test("addresses")
    func addresses() throws {
        #expect(try LocalAddress("localhost:0") == LocalAddress(host: "127.0.0.1", port: 0))
        #expect(try LocalAddress("[::1]:8080").authority == "[::1]:8080")
        #expect(try LocalAddress("[::1]:8080").isLoopback && LocalAddress("127.9.9.9:1").isLoopback)
        #expect(try !LocalAddress("192.168.1.2:1").isLoopback && LocalAddress("[::]:1").isWildcard)
    }
}
