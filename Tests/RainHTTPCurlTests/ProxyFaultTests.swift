// SPDX-License-Identifier: Apache-2.0
import CRainCurl
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

    /// A SOCKS proxy: the bytes that choose the way to sign in, and the first two of its reply (RFC 1928).
    private static func socks(
        _ name: String, _ method: [UInt8], _ reply: [UInt8]?, _ says: String, _ code: HTTPError.Code
    ) -> Fault {
        Fault(testDescription: "SOCKS: \(name)", code: code, says: says, scheme: "socks5h") { peer in
            _ = peer.read(4096)
            peer.write(method)
            guard let reply else {
                _ = peer.waitForClose()
                return
            }
            _ = peer.read(4096)
            peer.write(reply + [0, 1, 0, 0, 0, 0, 0, 0])
            _ = peer.waitForClose()
        }
    }

    static let faults: [Fault] = [
        answers("407 Proxy Authentication Required", "requires a user name and a password (HTTP 407)", .proxyRefused),
        Fault(
            testDescription: "does not take the password", code: .proxyRefused,
            says: "does not accept the user name and password in https_proxy (HTTP 407)",
            credentials: "me:planted-secret@"
        ) { peer in
            _ = peer.readRequest()
            peer.respond("407 Proxy Authentication Required", headers: ["Proxy-Authenticate: Basic realm=\"x\""])
        },
        Fault(
            testDescription: "knows other ways to sign in", code: .proxyRefused,
            says: "(HTTP 407), and this program supports only Basic", credentials: "me:planted-secret@"
        ) { peer in
            _ = peer.readRequest()
            peer.respond(
                "407 Proxy Authentication Required",
                headers: ["Proxy-Authenticate: Negotiate", "Proxy-Authenticate: Digest realm=\"x\", nonce=\"y\""])
        },
        answers("403 Forbidden", "does not let this machine reach that host (HTTP 403)", .proxyRefused),
        answers("429 Too Many Requests", "does not let this machine reach that host (HTTP 429)", .proxyRefused),
        answers("500 Error", "cannot reach that host (HTTP 500)", .proxy),
        answers("502 Bad Gateway", "cannot reach that host (HTTP 502)", .proxy),
        answers("503 Service Unavailable", "cannot reach that host (HTTP 503)", .proxy),
        answers("504 Gateway Timeout", "cannot reach that host (HTTP 504)", .proxy),
        answers("400 Bad Request", "is probably not a proxy (HTTP 400)", .proxyRefused),
        answers("404 Not Found", "is probably not a proxy (HTTP 404)", .proxyRefused),
        answers("405 Method Not Allowed", "is probably not a proxy (HTTP 405)", .proxyRefused),
        answers("501 Not Implemented", "is probably not a proxy (HTTP 501)", .proxyRefused),
        answers("302 Found", "requires a sign-in in the browser (HTTP 302)", .proxyRefused),
        Fault(testDescription: "closes after the request", code: .proxy, says: "closed the connection") {
            _ = $0.readRequest()
        },
        Fault(testDescription: "closes at once", code: .proxy, says: "closed the connection") { _ in },
        Fault(testDescription: "resets", code: .proxy, says: "closed the connection") {
            _ = $0.readRequest()
            $0.reset()
        },
        Fault(testDescription: "answers in no protocol", code: .proxyRefused, says: "is probably not a proxy") {
            _ = $0.readRequest()
            $0.write("<html>hello</html>\r\n\r\n")
            $0.waitForClose()
        },
        Fault(
            testDescription: "is not a SOCKS proxy", code: .proxyRefused, says: "is probably not a proxy of that kind",
            scheme: "socks5h"
        ) {
            _ = $0.read(3)
            $0.write("HTTP/1.1 400 Bad Request\r\n\r\n")
            $0.waitForClose()
        },
        socks("refuses to connect", [5, 0], [5, 5], "cannot reach that host (connection refused)", .proxy),
        socks("knows no way to the host", [5, 0], [5, 4], "cannot reach that host (host unreachable)", .proxy),
        socks("forbids it", [5, 0], [5, 2], "its rules do not allow the connection", .proxy),
        socks(
            "accepts no sign-in", [5, 0xFF], nil, "requires a user name and a password, as in socks5h://USER:PASSWORD@",
            .proxyRefused),
        Fault(
            testDescription: "does not take the password for SOCKS", code: .proxyRefused,
            says: "does not accept the user name and password in", credentials: "me:planted-secret@",
            scheme: "socks5h"
        ) {
            _ = $0.read(4096)
            $0.write([5, 2])
            _ = $0.read(4096)
            $0.write([1, 1])
            $0.waitForClose()
        },
        Fault(
            testDescription: "closes a SOCKS connection", code: .proxy, says: "closed the connection", scheme: "socks5h"
        ) {
            _ = $0.read(4096)
            $0.endWriting()
            $0.waitForClose()
        },
        Fault(
            testDescription: "does not speak TLS", code: .proxyRefused, says: "does not open a secure connection",
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
            ("ftp://127.0.0.1:9", "does not contain the address of a proxy: it begins with ftp://"),
            ("http://:x:y", "does not contain the address of a proxy: it has more than one colon"),
            (
                "http://127.0.0.1:abc",
                "does not contain the address of a proxy: the text after its last colon is not a port"
            ),
        ])
    func nobody(proxy: String, says: String) async throws {
        let error = try #require(await failure(proxy))
        #expect([.proxy, .proxyRefused].contains(error.code) && error.message.contains(says), "\(error)")
        let refused = try #require(await failure("http://127.0.0.1:\(try LoopbackServer.refusedPort())"))
        #expect(refused.code == .proxy && refused.message.contains("nothing listens"), "\(refused)")
    }

    @Test("a silent proxy is what did not answer", arguments: ["http", "socks5h"])
    func silent(scheme: String) async throws {
        let server = try LoopbackServer { $0.waitForClose() }
        let error = try #require(await failure("\(scheme)://127.0.0.1:\(server.port)", deadline: .seconds(5)))
        #expect(error.code == .timeout && error.message.contains("the proxy 127.0.0.1"), "\(error)")
        #expect(error.silentProxy?.contains("https_proxy") == true)
    }

    /// What a SOCKS proxy does once it has connected to the server.
    private func beyondSOCKS(
        deadline: Duration = .seconds(60), _ serve: @escaping @Sendable (LoopbackPeer) -> Void
    ) async throws -> HTTPError {
        let server = try LoopbackServer { peer in
            _ = peer.read(4096)
            peer.write([5, 0])
            _ = peer.read(4096)
            peer.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
            serve(peer)
        }
        return try #require(await failure("socks5h://127.0.0.1:\(server.port)", deadline: deadline))
    }

    @Test("a fault beyond a SOCKS proxy is the server's")
    func serverBeyondSOCKS() async throws {
        let closed = try await beyondSOCKS {
            _ = $0.read(4096)
            $0.endWriting()
            $0.waitForClose()
        }
        #expect(closed.code == .closed && !closed.message.contains("proxy"), "\(closed)")
        let plain = try await beyondSOCKS {
            _ = $0.read(4096)
            $0.write("HTTP/1.1 400 Bad Request\r\n\r\n")
            $0.waitForClose()
        }
        #expect(plain.code == .tls && !plain.message.contains("proxy"), "\(plain)")
        let silent = try await beyondSOCKS(deadline: .seconds(5)) { $0.waitForClose() }
        #expect(silent.code == .timeout && silent.silentProxy == nil, "\(silent)")
        #expect(!silent.message.contains("proxy"), "\(silent)")
    }

    private func socksFault(
        _ scheme: String, _ code: CURLcode, credentials: String = "", proxyError: CURLproxycode = CURLPX_OK
    ) -> TransferFault {
        var fault = TransferFault(
            code: code, text: "text of libcurl", host: "cloud.example", isEncrypted: true,
            proxy: ProxySetting("\(scheme)://\(credentials)p:1080", variable: "all_proxy"))
        fault.proxyError = proxyError
        return fault
    }

    @Test("a SOCKS proxy is at fault for what it does itself", arguments: ["socks4", "socks4a", "socks5", "socks5h"])
    func socksFaults(scheme: String) {
        for code in [CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT] {
            #expect(socksFault(scheme, code).meaning.code == .proxy)
        }
        for code in [
            CURLE_OPERATION_TIMEDOUT, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_SSL_CONNECT_ERROR,
        ] {
            let meaning = socksFault(scheme, code).meaning
            #expect(
                ![.proxy, .proxyRefused].contains(meaning.code) && !meaning.message.contains("p:1080"), "\(meaning)")
        }
        var untrusted = socksFault(scheme, CURLE_PEER_FAILED_VERIFICATION)
        untrusted.verifyResult = 20
        #expect(untrusted.meaning.code == .tls)
        #expect(untrusted.meaning.message.contains("an authority that this machine does not trust"))
    }

    static let socksErrors: [(CURLproxycode, HTTPError.Code, String)] = [
        (CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED, .proxy, "cannot reach that host"),
        (CURLPX_REPLY_COMMAND_NOT_SUPPORTED, .proxy, "cannot reach that host"),
        (CURLPX_REPLY_CONNECTION_REFUSED, .proxy, "cannot reach that host (connection refused)"),
        (CURLPX_REPLY_GENERAL_SERVER_FAILURE, .proxy, "cannot reach that host"),
        (CURLPX_REPLY_HOST_UNREACHABLE, .proxy, "cannot reach that host (host unreachable)"),
        (CURLPX_REPLY_NETWORK_UNREACHABLE, .proxy, "cannot reach that host (network unreachable)"),
        (CURLPX_REPLY_NOT_ALLOWED, .proxy, "cannot reach that host"),
        (CURLPX_REPLY_TTL_EXPIRED, .proxy, "cannot reach that host"),
        (CURLPX_REPLY_UNASSIGNED, .proxy, "cannot reach that host"),
        (CURLPX_REQUEST_FAILED, .proxy, "cannot reach that host"),
        (CURLPX_CLOSED, .proxy, "closed the connection"), (CURLPX_RECV_CONNECT, .proxy, "closed the connection"),
        (CURLPX_BAD_VERSION, .proxyRefused, "is probably not a proxy of that kind (text of libcurl)"),
        (CURLPX_UNKNOWN_MODE, .proxyRefused, "is probably not a proxy of that kind"),
        (CURLPX_NO_AUTH, .proxyRefused, "requires a user name and a password, as in socks5://USER:PASSWORD@p:1080"),
        (CURLPX_USER_REJECTED, .proxyRefused, "requires a user name and a password"),
        (CURLPX_LONG_PASSWD, .proxyRefused, "more than 255 bytes"),
        (CURLPX_RESOLVE_HOST, .unresolved, "To let the proxy look the name up, write socks5h:// in all_proxy"),
    ]

    @Test("what a SOCKS proxy answered decides", arguments: socksErrors)
    func socksError(error: CURLproxycode, code: HTTPError.Code, says: String) {
        let meaning = socksFault("socks5", CURLE_PROXY, proxyError: error).meaning
        #expect(meaning.code == code && meaning.message.contains(says), "\(meaning)")
        let given = socksFault("socks5", CURLE_PROXY, credentials: "u:planted@", proxyError: error).meaning
        #expect(given.code == code && !given.message.contains("planted"), "\(given)")
        #expect(!given.message.contains("requires a user name"), "\(given)")
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
            _ = peer.waitForClose()
        }
        let error = try #require(await failure("http://127.0.0.1:\(server.port)", host: host))
        #expect(error.code == code && error.message.contains("127.0.0.1:\(server.port) (from https_proxy)"), "\(error)")
        #expect(error.message.contains("is not a proxy"), "\(error)")
    }

    struct Setting: Sendable, CustomTestStringConvertible {
        var host: String
        var isEncrypted = true
        var environment: [String: String]
        var expected: String?
        var testDescription: String { "\(host) with \(environment)" }
    }

    private static func exception(_ exceptions: String, _ host: String, expected: String? = nil) -> Setting {
        Setting(host: host, environment: ["https_proxy": "p:1", "no_proxy": exceptions], expected: expected)
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
        exception("*,b.example", "a.example", expected: "https_proxy p:1"),
        exception("b.example, *", "a.example", expected: "https_proxy p:1"),
        exception("a.example.", "a.example"), exception("example", "a.example."),
        exception(".", "a.example.", expected: "https_proxy p:1"),
        exception("192.0.2.0/24", "192.0.2.77:8443"),
        exception("192.0.2.0/24", "192.0.3.1", expected: "https_proxy p:1"),
        exception("b.example,192.0.2.0/23", "192.0.3.1"), exception("192.0.2.7/32", "192.0.2.7"),
        exception("192.0.2.7", "192.0.2.7"), exception("2.7", "192.0.2.7", expected: "https_proxy p:1"),
        exception("192.0.2.0/33", "192.0.2.0", expected: "https_proxy p:1"),
        exception("192.0.2.0/24", "a.example", expected: "https_proxy p:1"),
        exception("2001:db8::/32", "[2001:db8::1]:443"), exception("2001:db8::/33", "[2001:db8::1]"),
        exception("2001:db8:8000::/33", "[2001:db8::1]", expected: "https_proxy p:1"),
        exception("2001:db8::1", "[2001:db8:0::1]"), exception("::/0", "[2001:db8::1]", expected: "https_proxy p:1"),
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
            ("http://u:s3cret@\u{301}p:x", "port"), ("\"http://p:3128\"", "quotation marks"),
            ("http://u:s3@cret@p:1", "percent-encoded"), ("http://u:s3#cret@p:1", "percent-encoded"),
            ("http://u:s3/cret@p:1", "percent-encoded"), ("http://u:s3%40cret@p:1", nil),
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
