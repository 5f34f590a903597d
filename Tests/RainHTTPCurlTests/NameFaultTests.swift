// SPDX-License-Identifier: Apache-2.0
import CRainCurl
import Glibc
import RainHTTP
import TestSupport
import Testing

@testable import RainHTTPCurl

@Suite("Names that lead nowhere")
struct NameFaultTests {
    private func failure(_ addresses: [String], url: String = "https://cloud.example/") async -> HTTPError? {
        var configuration = CurlConfiguration()
        configuration.overrides = CurlConfiguration.Overrides(addresses: addresses)
        return await CurlHTTPClient(configuration).failure(
            HTTPRequest(method: .get, url: url, deadline: .seconds(60), connection: .fresh))
    }

    @Test(
        "an address that a service cannot have is named",
        arguments: [
            ("0.0.0.0", "its name leads to 0.0.0.0, which is not the address of any machine"),
            ("::", "its name leads to ::, which is not the address of any machine"),
            ("127.0.0.1", "its name leads to this machine (127.0.0.1)"),
            ("127.0.0.53", "its name leads to this machine (127.0.0.53)"),
        ])
    func blocked(address: String, says: String) async throws {
        let port = try LoopbackServer.refusedPort()
        let error = try #require(
            await failure(["cloud.example:\(port):\(address)"], url: "https://cloud.example:\(port)/"))
        #expect(error.code == .unreachable && error.message.contains(says), "\(error)")
    }

    @Test(
        "what answers on this machine is what failed",
        arguments: [
            (
                "https",
                " an overloaded server or a firewall on the way). The host's name leads to this machine (127.0.0.1)"
            ),
            ("http", "the connection"),
        ])
    func answered(scheme: String, says: String) async throws {
        let server = try LoopbackServer { _ = $0.read(1) }
        let error = try #require(
            await failure(
                ["cloud.example:\(server.port):127.0.0.1"], url: "\(scheme)://cloud.example:\(server.port)/"))
        #expect(error.code == .closed && error.message.contains(says), "\(error)")
        #expect(!error.message.contains("where the service does not run"), "\(error)")
    }

    @Test(
        "a certificate's fault keeps its sentence, and the address is added",
        arguments: [(18, "its certificate is self-signed"), (20, "from an authority"), (62, "is for another name")])
    func certificate(result: Int, says: String) {
        var fault = TransferFault(
            code: CURLE_PEER_FAILED_VERIFICATION, text: "SSL certificate problem: x", host: "cloud.example:8443",
            isEncrypted: true)
        fault.verifyResult = result
        #expect(!fault.meaning.message.contains("this machine ("))
        fault.addresses = ["127.0.0.1"]
        #expect(fault.meaning.code == .tls && fault.meaning.message.contains(says), "\(fault.meaning)")
        #expect(
            fault.meaning.message.hasSuffix(". The host's name leads to this machine (127.0.0.1)"), "\(fault.meaning)")
        fault.addresses = ["0.0.0.0"]
        #expect(
            fault.meaning.message.hasSuffix(". The host's name leads to this machine (0.0.0.0)"), "\(fault.meaning)")
        fault.addresses = ["192.0.2.1", "127.0.0.1"]
        #expect(!fault.meaning.message.contains("this machine ("))
        (fault.host, fault.addresses) = ("localhost:8443", ["127.0.0.1"])
        #expect(!fault.meaning.message.contains("this machine ("))
    }

    @Test(
        "a server on this machine that closes the connection has closed it",
        arguments: [CURLE_RECV_ERROR, CURLE_GOT_NOTHING])
    func closed(code: CURLcode) {
        let fault = TransferFault(
            code: code, text: "x", host: "cloud.example", isEncrypted: true, addresses: ["127.0.0.1"])
        #expect(fault.meaning.code == .closed && !fault.meaning.message.contains("its name"), "\(fault.meaning)")
    }

    @Test("a name that is not found", arguments: ["https://nobody.invalid/", "http://nobody.invalid/"])
    func notFound(url: String) async throws {
        let error = try #require(await failure([], url: url))
        #expect(error.code == .unresolved && error.message.contains("the name nobody.invalid is not known"), "\(error)")
    }

    @Test("numbers and dots that are not an address", arguments: ["192.168.4.1.5", "192.168.4.300:80"])
    func notAddress(host: String) {
        let fault = TransferFault(code: CURLE_COULDNT_RESOLVE_HOST, text: "x", host: host, isEncrypted: false)
        #expect(fault.meaning.code == .unresolved && fault.meaning.message.contains("not an IPv4 address"))
    }

    struct Connection: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var error: Int32
        var addresses: [String]
        var host = "cloud.example"
        var says: String
    }

    static let connections: [Connection] = [
        Connection(
            testDescription: "IPv6 only, no route", error: ENETUNREACH, addresses: ["2001:db8::1"],
            says: "has only IPv6 addresses (2001:db8::1), but this machine has no IPv6 connection"),
        Connection(
            testDescription: "IPv6 only, no address", error: EADDRNOTAVAIL, addresses: ["2001:db8::1", "2001:db8::2"],
            says: "no IPv6 connection"),
        Connection(
            testDescription: "IPv6 only, no IPv6 in the kernel", error: EAFNOSUPPORT, addresses: ["2001:db8::1"],
            says: "no IPv6 connection"),
        Connection(
            testDescription: "both, no network", error: ENETUNREACH, addresses: ["2001:db8::1", "192.0.2.1"],
            says: "no route to that network"),
        Connection(
            testDescription: "no network", error: ENETUNREACH, addresses: ["192.0.2.1"],
            says: "no route to that network"),
        Connection(
            testDescription: "no host", error: EHOSTUNREACH, addresses: ["192.0.2.1"], says: "no machine answers"),
        Connection(
            testDescription: "refused", error: ECONNREFUSED, addresses: ["192.0.2.1"],
            says: "nothing listens on that port"),
        Connection(
            testDescription: "refused here", error: ECONNREFUSED, addresses: ["127.0.0.1"], host: "localhost:1",
            says: "nothing listens on that port"),
        Connection(
            testDescription: "this machine by its own name", error: ECONNREFUSED, addresses: ["127.0.0.1"],
            host: "127.0.0.1:1",
            says: "nothing listens on that port"),
        Connection(
            testDescription: "timed out", error: ETIMEDOUT, addresses: ["192.0.2.1"], says: "a firewall may block it"),
        Connection(
            testDescription: "a firewall here", error: EPERM, addresses: ["192.0.2.1"],
            says: "does not allow the connection"),
        Connection(
            testDescription: "one of two is nobody's", error: ECONNREFUSED, addresses: ["::", "0.0.0.0"],
            says: "which is not the address of any machine"),
    ]

    @Test("a connection that does not come about", arguments: connections)
    func connection(_ connection: Connection) {
        let fault = TransferFault(
            code: CURLE_COULDNT_CONNECT, text: "Couldn't connect to server", host: connection.host, isEncrypted: true,
            systemError: connection.error, addresses: connection.addresses)
        #expect(fault.meaning.code == .unreachable)
        #expect(fault.meaning.message.contains(connection.says), "\(fault.meaning.message)")
    }
}
