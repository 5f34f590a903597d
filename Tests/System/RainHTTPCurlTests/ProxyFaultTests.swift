// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainHTTP
import TestSupport
import Testing

@testable import RainHTTPCurl

/// Faults of a proxy, as opposed to faults of the service. The reasons are `proxy` and `proxy_refused`.
@Suite("Proxies that fail")
struct ProxyFaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var code: HTTPError.Code
        var says: String
        var credentials = ""
        var scheme = "http"
        var serve: @Sendable (LoopbackPeer) -> Void
    }

    private static func answers(_ status: String, _ says: String, _ code: HTTPError.Code) -> Fault {
        Fault(testDescription: "answers \(status)", code: code, says: says) { peer in
            _ = peer.readRequest()
            peer.respond(status)
        }
    }

    static let faults: [Fault] = [
        answers("407 Proxy Authentication Required", "wants a user name and a password (HTTP 407)", .proxyRefused),
        Fault(
            testDescription: "does not take the password", code: .proxyRefused,
            says: "does not accept the user name and password that are given there (HTTP 407)",
            credentials: "me:planted-secret@"
        ) { peer in
            _ = peer.readRequest()
            peer.respond("407 Proxy Authentication Required", headers: ["Proxy-Authenticate: Digest realm=\"x\""])
        },
        answers("403 Forbidden", "does not let this machine reach it (HTTP 403)", .proxyRefused),
        answers("429 Too Many Requests", "does not let this machine reach it (HTTP 429)", .proxyRefused),
        answers("500 Error", "cannot reach it (HTTP 500)", .proxy),
        answers("502 Bad Gateway", "cannot reach it (HTTP 502)", .proxy),
        answers("503 Service Unavailable", "cannot reach it (HTTP 503)", .proxy),
        answers("504 Gateway Timeout", "cannot reach it (HTTP 504)", .proxy),
        answers("400 Bad Request", "is not a proxy (HTTP 400)", .proxyRefused),
        answers("404 Not Found", "is not a proxy (HTTP 404)", .proxyRefused),
        answers("405 Method Not Allowed", "is not a proxy (HTTP 405)", .proxyRefused),
        answers("501 Not Implemented", "is not a proxy (HTTP 501)", .proxyRefused),
        answers("302 Found", "wants a sign-in in the browser (HTTP 302)", .proxyRefused),
        Fault(testDescription: "closes after the request", code: .proxy, says: "closed the connection") {
            _ = $0.readRequest()
        },
        Fault(testDescription: "closes at once", code: .proxy, says: "closed the connection") { _ in },
        Fault(testDescription: "resets", code: .proxy, says: "closed the connection") {
            _ = $0.readRequest()
            $0.reset()
        },
        Fault(testDescription: "answers in no protocol", code: .proxyRefused, says: "is not a proxy") {
            _ = $0.readRequest()
            $0.write("<html>hello</html>\r\n\r\n")
            $0.waitForClose()
        },
        Fault(
            testDescription: "is not a SOCKS proxy", code: .proxyRefused, says: "is not a proxy of that kind",
            scheme: "socks5h"
        ) {
            _ = $0.read(3)
            $0.write("HTTP/1.1 400 Bad Request\r\n\r\n")
            $0.waitForClose()
        },
        Fault(
            testDescription: "does not speak TLS", code: .proxyRefused, says: "opens no secure connection",
            scheme: "https"
        ) {
            _ = $0.read(3)
            $0.write("HTTP/1.1 400 Bad Request\r\n\r\n")
            $0.waitForClose()
        },
    ]

    private func failure(
        _ proxy: String, deadline: Duration = .seconds(60), host: String = "cloud.example"
    ) async -> HTTPError? {
        var configuration = CurlConfiguration()
        configuration.overrides = CurlConfiguration.Overrides(proxy: proxy)
        return await CurlHTTPClient(configuration).failure(
            HTTPRequest(method: .get, url: "https://\(host)/v1/", deadline: deadline, connection: .fresh))
    }

    @Test("the proxy and the variable that names it are named, and what it did", arguments: faults)
    func fault(_ fault: Fault) async throws {
        let server = try LoopbackServer(fault.serve)
        let place = "127.0.0.1:\(server.port)"
        let error = try #require(await failure("\(fault.scheme)://\(fault.credentials)\(place)"))
        #expect(error.code == fault.code, "\(error)")
        #expect(error.message.contains(fault.says), "\(error)")
        #expect(error.message.contains(place) && error.message.contains("https_proxy"), "\(error)")
        #expect(error.host == "cloud.example")
        #expect(!error.description.contains("planted-secret"))
    }

    @Test(
        "a proxy that is not there",
        arguments: [
            ("http://nobody.invalid:3128", "the name of the proxy"),
            ("ftp://127.0.0.1:9", "does not hold the address of a proxy: it begins with ftp://"),
            ("http://:x:y", "does not hold the address of a proxy: it has more than one colon"),
            ("http://127.0.0.1:abc", "does not hold the address of a proxy: what follows its last colon is not a port"),
        ])
    func nobody(proxy: String, says: String) async throws {
        let error = try #require(await failure(proxy))
        #expect([.proxy, .proxyRefused].contains(error.code) && error.message.contains(says), "\(error)")
        let refused = try #require(await failure("http://127.0.0.1:\(try LoopbackServer.refusedPort())"))
        #expect(refused.code == .proxy && refused.message.contains("nothing listens"), "\(refused)")
    }

    @Test("a silent proxy is what did not answer")
    func silent() async throws {
        let server = try LoopbackServer { $0.waitForClose() }
        let error = try #require(await failure("http://127.0.0.1:\(server.port)", deadline: .seconds(5)))
        #expect(error.code == .timeout && error.message.contains("the proxy 127.0.0.1"), "\(error)")
        #expect(error.silentProxy?.contains("https_proxy") == true)
    }

    @Test(
        "what is not TLS in an open tunnel is the proxy's fault on the usual port, and may be on another one",
        arguments: [("cloud.example", HTTPError.Code.proxyRefused), ("cloud.example:8443", .tls)])
    func beyond(host: String, code: HTTPError.Code) async throws {
        let server = try LoopbackServer { peer in
            _ = peer.readRequest()
            peer.write("HTTP/1.1 200 Connection established\r\n\r\n")
            _ = peer.read(9)
            peer.write("HTTP/1.1 400 Bad Request\r\n\r\n")
            peer.waitForClose()
        }
        let error = try #require(await failure("http://127.0.0.1:\(server.port)", host: host))
        #expect(error.code == code && error.message.contains("127.0.0.1:\(server.port), which https_proxy"), "\(error)")
        #expect(error.message.contains("is not a proxy"), "\(error)")
    }

    struct Setting: Sendable, CustomTestStringConvertible {
        var host: String
        var isEncrypted = true
        var environment: [String: String]
        var expected: String?
        var testDescription: String { "\(host) with \(environment)" }
    }

    static let settings: [Setting] = [
        Setting(host: "a.example", environment: [:], expected: nil),
        Setting(host: "a.example", environment: ["https_proxy": "http://p:1"], expected: "https_proxy p:1"),
        Setting(host: "a.example", environment: ["https_proxy": "p:1"], expected: "https_proxy p:1"),
        Setting(host: "a.example:8443", environment: ["HTTPS_PROXY": "http://u:s@p:1/"], expected: "HTTPS_PROXY p:1"),
        Setting(
            host: "a.example", environment: ["https_proxy": "", "ALL_PROXY": "socks5://p:1"], expected: "ALL_PROXY p:1"),
        Setting(host: "a.example", environment: ["http_proxy": "http://p:1"], expected: nil),
        Setting(
            host: "a.example", isEncrypted: false, environment: ["http_proxy": "http://p:1"], expected: "http_proxy p:1"
        ),
        Setting(host: "a.example", isEncrypted: false, environment: ["HTTP_PROXY": "http://p:1"], expected: nil),
        Setting(host: "a.example", environment: ["https_proxy": "p:1", "no_proxy": "*"], expected: nil),
        Setting(
            host: "a.example:1", environment: ["https_proxy": "p:1", "no_proxy": "b.example,.example"], expected: nil),
        Setting(host: "a.example", environment: ["https_proxy": "p:1", "NO_PROXY": "A.Example"], expected: nil),
        Setting(
            host: "a.example", environment: ["https_proxy": "p:1", "no_proxy": "xample"], expected: "https_proxy p:1"),
        Setting(host: "127.0.0.1:1", environment: ["https_proxy": "p:1"], expected: nil),
        Setting(host: "[::1]:1", environment: ["https_proxy": "p:1"], expected: nil),
    ]

    @Test(
        "the wrong part of a proxy's address is named, and no secret of it",
        arguments: [
            ("http://p:3128", nil), ("p", nil), ("socks5h://u:s3cret@[::1]:1080/", nil), ("https://p", nil),
            ("ftp://p:1", "ftp://"), ("http://p:70000", "port"), ("http://p:0", "port"), ("http://p:", "port"),
            ("http://:3128", "no host"), ("http://", "no host"), ("http://2001:db8::1:3128", "brackets"),
            ("http://u:s3cret@p:x", "port"), ("http://u:s3cret", "port"), ("u:s3://cret@p:x", "port"),
        ] as [(String, String?)])
    func parts(value: String, says: String?) {
        let problem = ProxySetting(value, variable: "https_proxy").problem
        #expect((problem == nil) == (says == nil) && problem?.contains(says ?? "") != false, "\(problem as Any)")
        #expect(problem?.contains("s3") != true)
    }

    @Test("the proxy is the one that libcurl takes", arguments: settings)
    func setting(_ setting: Setting) {
        let found = ProxySetting(for: setting.host, isEncrypted: setting.isEncrypted) { setting.environment[$0] }
        #expect(found.map { "\($0.variable) \($0.place)" } == setting.expected)
    }
}
