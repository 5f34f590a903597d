// SPDX-License-Identifier: Apache-2.0
import CRainCurl
import RainHTTP
import TestSupport
import Testing

@testable import RainHTTPCurl

@Suite("TLS that does not come about")
struct TLSFaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var code = HTTPError.Code.tls
        var says: String
        var serve: @Sendable (LoopbackPeer) -> Void
    }

    /// A server that answers the hello with these bytes.
    private static func bytes(_ name: String, _ bytes: [UInt8], _ says: String, _ code: HTTPError.Code = .tls) -> Fault
    {
        Fault(testDescription: name, code: code, says: says) { peer in
            // The whole hello, or the close would be a reset.
            _ = peer.read(4096)
            peer.write(bytes)
            peer.endWriting()
            peer.waitForClose()
        }
    }

    private static func alert(_ number: UInt8, _ says: String, _ code: HTTPError.Code = .tls) -> Fault {
        bytes("alert \(number)", [21, 3, 3, 0, 2, 2, number], says, code)
    }

    private static let plain = "does not speak TLS on that port, but plain HTTP or another protocol"
    private static let closed =
        "closed the connection when TLS began (possible causes: a port that does not speak TLS, an overloaded"
    /// After an alert of TLS.
    private static let ended = "closed the connection when TLS began (possible causes: an overloaded server"

    static let faults: [Fault] = [
        bytes("plain HTTP", Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), plain),
        bytes("a page", Array("<html><title>Router</title></html>".utf8), plain),
        bytes("SSH", Array("SSH-2.0-OpenSSH_9.2\r\n".utf8), plain),
        bytes("mail", Array("220 mail.example ESMTP\r\n".utf8), plain),
        bytes("MQTT", [0x20, 2, 0, 5, 0, 0], plain),
        bytes("zeros", [UInt8](repeating: 0, count: 64), plain),
        bytes("nothing", [], closed, .closed),
        bytes("half of a hello", [22, 3, 3, 0, 80, 2, 0, 0, 76], closed, .closed),
        Fault(testDescription: "a reset", code: .closed, says: closed) { peer in
            _ = peer.read(1)
            peer.reset()
        },
        alert(0, ended, .closed),
        alert(40, "may require a client certificate, or have no cipher in common"),
        alert(49, "refused the secure connection (TLS alert: access denied)"),
        alert(70, "supports only old versions of TLS"),
        alert(71, "refused the secure connection (TLS alert: insufficient security)"),
        alert(80, ended, .closed),
        alert(112, "has no site of that name"),
        alert(116, "requires a client certificate"),
        alert(120, "refused the secure connection (TLS alert: no application protocol)"),
    ]

    @Test("is reported in plain words", arguments: faults)
    func fault(_ fault: Fault) async throws {
        let server = try LoopbackServer(fault.serve)
        let error = try #require(
            await CurlHTTPClient().failure(
                HTTPRequest(method: .get, url: "https://127.0.0.1:\(server.port)/", connection: .fresh)))
        #expect(error.code == fault.code, "\(error)")
        #expect(error.message.contains(fault.says), "\(error)")
        #expect(!error.message.contains("SSL") && !error.message.contains("routines"), "\(error)")
    }

    /// OpenSSL's `X509_V_ERR_…`, and its message.
    @Test(
        "a certificate that is not accepted says why, and by which clock",
        arguments: [
            (9, "is not valid yet, or this machine's clock is wrong (it shows 2026-11-25 09:30 UTC)"),
            (10, "has expired, or this machine's clock is wrong (it shows 2026-11-25 09:30 UTC)"),
            (18, "is self-signed"), (19, "from an authority that this machine does not trust"),
            (20, "from an authority that this machine does not trust"),
            (21, "from an authority that this machine does not trust"), (24, "CA:TRUE is missing"),
            (23, "has been revoked"),
            (62, "is for another name"), (64, "is for another name"), (66, "too weak"), (68, "too weak"),
        ])
    func certificate(result: Int, says: String) {
        var fault = TransferFault(
            code: CURLE_PEER_FAILED_VERIFICATION, text: "SSL certificate problem: x", host: "a.example",
            isEncrypted: true)
        fault.verifyResult = result
        fault.now = "2026-11-25 09:30 UTC"
        #expect(fault.meaning.code == .tls)
        #expect(fault.meaning.message.contains(says), "\(fault.meaning.message)")
    }

    @Test(
        "certificates that replace the system's are named, with the setting that names them",
        arguments: [(18, "is self-signed"), (19, "is from an authority"), (20, "is from an authority")])
    func givenAuthorities(result: Int, says: String) {
        var fault = TransferFault(
            code: CURLE_PEER_FAILED_VERIFICATION, text: "SSL certificate problem: x", host: "a.example",
            isEncrypted: true)
        fault.verifyResult = result
        var configuration = CurlConfiguration(certificateAuthorities: "/x.pem")
        configuration.certificateAuthoritiesOrigin = "RAINKIT_CA_FILE"
        fault.givenAuthorities = configuration.givenAuthorities
        let message = fault.meaning.message
        #expect(message.contains(says), "\(message)")
        #expect(message.contains("not in the file /x.pem (from RAINKIT_CA_FILE)"), "\(message)")
        #expect(message.contains("intermediate certificate") == (result == 20), "\(message)")
        configuration.certificateAuthorities = nil
        configuration.certificateAuthorityFolder = "/empty"
        fault.givenAuthorities = configuration.givenAuthorities
        #expect(fault.meaning.message.contains("not in the folder /empty (from SSL_CERT_DIR)"))
    }

    @Test("a server that may lack its intermediate certificate is described so", arguments: [20, 21])
    func intermediate(result: Int) {
        var fault = TransferFault(
            code: CURLE_PEER_FAILED_VERIFICATION, text: "SSL certificate problem: x", host: "a.example",
            isEncrypted: true)
        fault.verifyResult = result
        #expect(
            fault.meaning.message.contains("may also have omitted its intermediate certificate"),
            "\(fault.meaning.message)")
    }

    @Test("a server that accepts the connection without TLS is distinguished from one that does not answer")
    func silent() async throws {
        let server = try LoopbackServer { $0.waitForClose() }
        let url = "https://127.0.0.1:\(server.port)/"
        let error = try #require(
            await CurlHTTPClient().failure(
                HTTPRequest(method: .get, url: url, deadline: .seconds(5), connection: .fresh)))
        #expect(error.code == .timeout && error.lacksTLS, "\(error)")
        // With plain HTTP, the server owes the answer.
        let plain = try #require(
            await CurlHTTPClient().failure(
                HTTPRequest(method: .get, url: server.url, deadline: .seconds(5), connection: .fresh)))
        #expect(plain.code == .timeout && !plain.lacksTLS, "\(plain)")
    }

    @Test(
        "other texts of libcurl and OpenSSL",
        arguments: [
            (
                CURLE_PEER_FAILED_VERIFICATION,
                "SSL: no alternative certificate subject name matches target host name 'a'", "is for another name"
            ),
            (
                CURLE_SSL_CACERT_BADFILE, "error setting certificate file: /none/x.pem",
                "file of certificate authorities /none/x.pem cannot be read: No such file"
            ),
            (
                CURLE_SSL_CONNECT_ERROR, "OpenSSL/3.0.19: error:0A000102:SSL routines::unsupported protocol",
                "old versions of TLS"
            ),
            (CURLE_SSL_CONNECT_ERROR, "OpenSSL/3.0.19: error:0A00018A:SSL routines::dh key too small", "too weak"),
            (
                CURLE_SSL_CONNECT_ERROR, "OpenSSL/3.0.19: error:0A000126:SSL routines::unexpected eof while reading",
                "closed the connection when TLS began"
            ),
            (
                CURLE_RECV_ERROR,
                "OpenSSL SSL_read: OpenSSL/3.0.19: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
                "requires a client certificate"
            ),
            (
                CURLE_RECV_ERROR,
                "OpenSSL SSL_read: OpenSSL/3.0.19: error:0A000412:SSL routines::sslv3 alert bad certificate, errno 0",
                "TLS alert: bad certificate"
            ),
        ])
    func texts(code: CURLcode, text: String, says: String) {
        let fault = TransferFault(code: code, text: text, host: "a.example", isEncrypted: true)
        #expect(fault.meaning.message.contains(says), "\(fault.meaning.message)")
    }

    @Test("the variable that names the file of authorities is named")
    func variable() {
        var fault = TransferFault(
            code: CURLE_SSL_CACERT_BADFILE, text: "error setting certificate file: /none/x.pem", host: "a.example",
            isEncrypted: true)
        fault.authoritiesVariable = "CURL_CA_BUNDLE"
        #expect(
            fault.meaning.message
                == "the file of certificate authorities /none/x.pem (from CURL_CA_BUNDLE) cannot be read: No such file or directory"
        )
    }

    @Test(
        "a connection that ends before the first byte of an answer may lack a client certificate",
        arguments: [CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING])
    func noAnswer(code: CURLcode) {
        var fault = TransferFault(code: code, text: "x", host: "a.example", isEncrypted: true)
        #expect(fault.meaning.code == .closed)
        #expect(fault.meaning.message.contains("may require a client certificate"), "\(fault.meaning.message)")
        fault.hasAnswer = true
        #expect(!fault.meaning.message.contains("certificate"))
        fault = TransferFault(code: code, text: "x", host: "a.example", isEncrypted: false)
        #expect(!fault.meaning.message.contains("certificate"))
        fault = TransferFault(code: code, text: "x", host: "a.example", isEncrypted: true, isNewConnection: false)
        #expect(!fault.meaning.message.contains("certificate"))
    }

    @Test("a certificate that a proxy may have put in place names the proxy", arguments: [18, 19, 20, 62])
    func proxyCertificate(result: Int) {
        var fault = TransferFault(
            code: CURLE_PEER_FAILED_VERIFICATION, text: "SSL certificate problem: x", host: "a.example",
            isEncrypted: true, proxy: ProxySetting("http://p:3128", variable: "https_proxy"))
        fault.verifyResult = result
        fault.connectStatus = 200
        #expect(fault.meaning.code == .tls)
        #expect(fault.meaning.message.contains("p:3128 (from https_proxy)"), "\(fault.meaning.message)")
        fault.verifyResult = 10
        #expect(!fault.meaning.message.contains("p:3128"))
    }
}
