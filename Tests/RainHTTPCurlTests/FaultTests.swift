// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainHTTP
import RainHTTPCurl
import TestSupport
import Testing

@Suite("Servers that misbehave")
struct FaultTests {
    private let client = CurlHTTPClient()

    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: HTTPError.Code
        let receivedBytes: Bool
        let serve: @Sendable (LoopbackPeer) -> Void
    }

    static let faults: [Fault] = [
        Fault(testDescription: "closes without a word", code: .closed, receivedBytes: false) { _ = $0.readRequest() },
        Fault(testDescription: "resets without a word", code: .closed, receivedBytes: false) {
            _ = $0.readRequest()
            $0.reset()
        },
        Fault(testDescription: "ends its half and goes on listening", code: .closed, receivedBytes: false) {
            _ = $0.readRequest()
            $0.endWriting()
            $0.waitForClose()
        },
        Fault(testDescription: "resets within the status line", code: .closed, receivedBytes: false) {
            _ = $0.readRequest()
            $0.write("HTTP/1.")
            usleep(50_000)  // the bytes must arrive before the reset, which would discard them
            $0.reset()
        },
        Fault(testDescription: "closes within the headers", code: .closed, receivedBytes: true) {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Len")
        },
        Fault(testDescription: "cuts the body short", code: .closed, receivedBytes: true) {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        },
        Fault(testDescription: "cuts a chunked body short", code: .closed, receivedBytes: true) {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        },
        Fault(testDescription: "announces too large a body", code: .tooLarge, receivedBytes: true) {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")
            $0.waitForClose()
        },
        Fault(testDescription: "sends too large a body unannounced", code: .tooLarge, receivedBytes: true) {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\n\r\n")
            while $0.write([UInt8](repeating: 0x61, count: 600)) {}
        },
        Fault(testDescription: "sends headers without end", code: .tooLarge, receivedBytes: true) {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\n")
            while $0.write("X-Header: \(String(repeating: "x", count: 500))\r\n") {}
        },
        Fault(testDescription: "sends one header line without end", code: .tooLarge, receivedBytes: true) {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nX: ")
            while $0.write(String(repeating: "x", count: 500)) {}
        },
        Fault(testDescription: "sends interim responses without end", code: .tooLarge, receivedBytes: true) {
            _ = $0.readRequest()
            while $0.write("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n") {}
        },
        Fault(testDescription: "speaks SSH", code: .malformed, receivedBytes: true) {
            _ = $0.readRequest()
            $0.write("SSH-2.0-OpenSSH_9.2p1\r\n")
        },
        Fault(testDescription: "breaks the chunked encoding", code: .malformed, receivedBytes: true) {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n")
            $0.waitForClose()
        },
        Fault(testDescription: "falls silent", code: .timeout, receivedBytes: false) {
            _ = $0.readRequest()
            $0.waitForClose()
        },
        Fault(testDescription: "falls silent within the body", code: .timeout, receivedBytes: true) {
            _ = $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            $0.waitForClose()
        },
    ]

    @Test("each has its own error", arguments: faults)
    func fault(_ fault: Fault) async throws {
        let server = try LoopbackServer(fault.serve)
        // Where the time is to run out, but not before what comes has come: a busy machine gets more of it.
        let deadlines: [Duration] =
            fault.code == .timeout ? [.milliseconds(300), .seconds(1), .seconds(10), .seconds(120)] : [.seconds(120)]
        var (error, tries): (HTTPError?, Int) = (nil, 0)
        for deadline in deadlines where error == nil || error?.receivedBytes != fault.receivedBytes {
            tries += 1
            error = await client.failure(
                HTTPRequest(
                    method: .post, url: server.url, body: [1], deadline: deadline, maximumResponseBytes: 1000,
                    connection: .fresh))
        }
        #expect(error?.code == fault.code, "\(error?.description ?? "a response")")
        #expect(error?.receivedBytes == fault.receivedBytes)
        #expect(error?.host == "127.0.0.1:\(server.port)")
        #expect(server.connections == tries)
    }

    @Test("a body of exactly the limit is accepted", arguments: [true, false])
    func exactLimit(announced: Bool) async throws {
        let server = try LoopbackServer { peer in
            _ = peer.readRequest()
            peer.write("HTTP/1.1 200 OK\r\n\(announced ? "Content-Length: 1000\r\n" : "")\r\n")
            peer.write([UInt8](repeating: 0x61, count: 1000))
        }
        let request = HTTPRequest(method: .get, url: server.url, maximumResponseBytes: 1000, connection: .fresh)
        #expect(try await client.send(request).body.count == 1000)
    }

    @Test("a port without a server is unreachable, a name without an address unresolved")
    func nobody() async throws {
        let port = try LoopbackServer.refusedPort()
        #expect(await client.failure(HTTPRequest(method: .get, url: "http://127.0.0.1:\(port)/"))?.code == .unreachable)
        let error = await client.failure(HTTPRequest(method: .get, url: "http://no-such-host.invalid/"))
        #expect(error?.code == .unresolved)
        #expect(error?.host == "no-such-host.invalid")
    }

    @Test("HTML is a response like any other: what it means is the caller's business")
    func html() async throws {
        let server = try LoopbackServer { peer in
            if peer.readRequest() != nil { peer.respond("502 Bad Gateway", "<html>") }
        }
        let response = try await client.send(HTTPRequest(method: .get, url: server.url))
        #expect(response.status == 502)
        #expect(text(response.body) == "<html>")
    }

    @Test(
        "what is too long is named in bytes",
        arguments: [
            ("X: \(String(repeating: "a", count: 400_000))", "more than 65536 bytes of headers"),
            ("X: \(String(repeating: "a", count: 70_000))", "more than 65536 bytes of headers"),
            ("Content-Length: 1001", "more than 1000 bytes"),
        ])
    func tooLong(header: String, message: String) async throws {
        let server = try LoopbackServer { peer in
            _ = peer.readRequest()
            peer.write("HTTP/1.1 200 OK\r\n\(header)\r\n\r\n")
        }
        let url = "http://127.0.0.1:\(server.port)/"
        let error = await client.failure(
            HTTPRequest(method: .get, url: url, maximumResponseBytes: 1000, connection: .fresh))
        #expect(error?.code == .tooLarge && error?.message == message)
    }
}
