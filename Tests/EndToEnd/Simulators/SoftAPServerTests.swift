// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import firmware_sim

@Suite("The board's HTTP server")
struct SoftAPServerTests {
    private func withServer(
        _ arguments: [String] = [], body: (_ address: String) async throws -> Void
    ) async throws {
        try await withBoard(["--http", "127.0.0.1:0", "--security", "0", "--wifi", "Net:password"] + arguments) {
            _, ready in
            try await body(try #require(ready["http"]?.string))
        }
    }

    private static let status: [UInt8] = [0x52, 0x00]
    private static let connecting: [UInt8] = [0x08, 0x01, 0x5A, 0x02, 0x10, 0x01]

    @Test("a session begins with a cookie, and goes on without on the same connection")
    func session() async throws {
        try await withServer { address in
            let peer = try RawHTTPPeer(address)
            peer.post("prov-session", hex("5203a20100"))
            let first = await peer.nextResponse()
            #expect(
                first.text.hasPrefix(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 7\r\nSet-Cookie: session="))
            #expect(first.body == hex("52050801aa0100"))
            peer.post("prov-config", Self.status, headers: "Connection: close\r\n")
            let second = await peer.nextResponse()
            #expect(second.body == Self.connecting && second.ending == .open)
            #expect(!second.text.contains("Set-Cookie"))
            peer.send("POST /prov-config HTTP/1.0\r\nContent-Length: 2\r\n\r\nR\0")
            #expect(await peer.nextResponse().body == Self.connecting)
        }
    }

    @Test("status line, header fragments and body are sent one by one, as the kernel counts them")
    func separateSends() async throws {
        let pieces = HTTPStatus.response(headers: [("Set-Cookie", "session=1")], body: [1, 2])
        #expect(pieces.count == 7)
        #expect(pieces.last == [1, 2])
        try await withServer { address in
            let peer = try RawHTTPPeer(address)
            peer.post("proto-ver", [0x2D])
            #expect(await peer.nextResponse().body.count > 20)
            // The first goes out at once; Nagle's algorithm decides into how many the others are put together.
            #expect(peer.receivedSegments > 1)
        }
    }

    @Test("a second connection pushes an idle first one out; the cookie carries the session over")
    func eviction() async throws {
        try await withServer { address in
            let first = try RawHTTPPeer(address)
            first.post("proto-ver", [0x2D])
            let cookie = try #require(
                await first.nextResponse().text.split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") }?
                    .dropFirst("Set-Cookie: ".count))
            let second = try RawHTTPPeer(address)
            #expect(await first.nextBytes() == [])
            second.post("prov-config", Self.status, headers: "Cookie: \(cookie)\r\n")
            let response = await second.nextResponse()
            #expect(response.body == Self.connecting && !response.text.contains("Set-Cookie"))
        }
    }

    @Test("a connection in the middle of a request is not pushed out")
    func midway() async throws {
        try await withServer { address in
            let first = try RawHTTPPeer(address)
            first.send("POST /prov-config HTTP/1.1\r\n")
            let second = try RawHTTPPeer(address)
            second.post("prov-config", Self.status)
            first.send("Content-Length: 2\r\n\r\nR\0")
            let response = await first.nextResponse()
            #expect(response.body == Self.connecting)
            #expect(await second.nextResponse().body == Self.connecting)
        }
    }

    @Test(
        "what the server does not take is answered and closed",
        arguments: [
            (
                "GET /proto-ver HTTP/1.1\r\n\r\n", "405 Method Not Allowed",
                "Specified method is invalid for this resource"
            ),
            (
                "GET /proto-ver?x=1 HTTP/1.1\r\n\r\n", "405 Method Not Allowed",
                "Specified method is invalid for this resource"
            ),
            (
                "POST /nothing?x=1 HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", "404 Not Found",
                "Nothing matches the given URI"
            ),
            ("POST /nothing HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", "404 Not Found", "Nothing matches the given URI"),
            ("GET / HTTP/1.1\r\n\r\n", "404 Not Found", "Nothing matches the given URI"),
            ("POST /\(String(repeating: "a", count: 495)) HTTP/1.1\r\n\r\n", "414 URI Too Long", "URI is too long"),
            (
                "POST /proto-ver HTTP/1.1\r\nX: \(String(repeating: "x", count: 1100))\r\n\r\n",
                "431 Request Header Fields Too Large", "Header fields are too long"
            ),
            ("nonsense\r\n\r\n", "400 Bad Request", "Bad request syntax"),
            ("BREW /proto-ver HTTP/1.1\r\n\r\n", "400 Bad Request", "Bad request syntax"),
            // The hello of a TLS client.
            ("\u{16}\u{03}\u{01}\u{02}", "400 Bad Request", "Bad request syntax"),
            (
                "PURGE /proto-ver HTTP/1.1\r\n\r\n", "405 Method Not Allowed",
                "Specified method is invalid for this resource"
            ),
            (
                "GET http://192.168.4.1/proto-ver HTTP/1.1\r\n\r\n", "405 Method Not Allowed",
                "Specified method is invalid for this resource"
            ),
            (
                "POST http://192.168.4.1/nothing HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", "404 Not Found",
                "Nothing matches the given URI"
            ),
            (
                "POST /proto-ver HTTP/1.2\r\nContent-Length: 1\r\n\r\nx", "505 Version Not Supported",
                "HTTP version not supported by server"
            ),
            ("GET /proto-ver\r\n\r\n", "505 Version Not Supported", "HTTP version not supported by server"),
        ])
    func refusals(request: String, status: String, message: String) async throws {
        try await withServer { address in
            let peer = try RawHTTPPeer(address)
            peer.send(request)
            let response = await peer.nextResponse()
            #expect(response.text.hasPrefix("HTTP/1.1 \(status)\r\n"), "the connection is \(response.ending)")
            #expect(response.body == Array(message.utf8))
            #expect(await peer.nextBytes() == [])
        }
    }

    @Test(
        "what a handler does not take is closed without a word",
        arguments: [
            "POST /proto-ver HTTP/1.1\r\n\r\n", "POST /proto-ver HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
            "POST /proto-ver HTTP/1.1\r\nContent-Length: 4097\r\n\r\n\(String(repeating: "x", count: 4097))",
            "POST /proto-ver HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
            "POST /proto-ver HTTP/1.1\r\nContent-Length: 5000000000\r\n\r\nx",
            "POST /proto-ver?x=1 HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
            // The endpoint's name is all but the first byte, whatever the target's form.
            "POST http://192.168.4.1/proto-ver HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
            "POST http://192.168.4.1 HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
            "POST /prov-config HTTP/1.1\r\nContent-Length: 2\r\n\r\nxx",
        ])
    func silentCloses(request: String) async throws {
        try await withServer { address in
            let peer = try RawHTTPPeer(address)
            peer.send(request)
            let response = await peer.nextResponse()
            #expect(response.text.isEmpty && response.ending == .closed)
        }
    }

    @Test("a body of 4096 bytes is taken, and comes in pieces")
    func largestBody() async throws {
        try await withServer { address in
            let peer = try RawHTTPPeer(address)
            peer.send("POST /proto-ver HTTP/1.1\r\nContent-Length: 4096\r\nExpect: 100-continue\r\n\r\n")
            for _ in 0..<4 { peer.send([UInt8](repeating: 0x2D, count: 1024)) }
            #expect(await peer.nextResponse().text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("of two pipelined requests only the first is answered, but a later one is")
    func pipelined() async throws {
        try await withServer { address in
            let peer = try RawHTTPPeer(address)
            let request = "POST /prov-config HTTP/1.1\r\nContent-Length: 2\r\n\r\nR\0"
            peer.send(request + request)
            #expect(await peer.nextResponse().body == Self.connecting)
            #expect(await peer.nextBytes(within: 0.2) == nil)
            peer.send(request)
            #expect(await peer.nextResponse().body == Self.connecting)
        }
    }

    @Test("a refused request closes the connection, but the session goes on with its cookie")
    func sessionSurvivesRefusal() async throws {
        try await withServer { address in
            let first = try RawHTTPPeer(address)
            first.post("proto-ver", [0x2D])
            let cookie = try #require(
                await first.nextResponse().text.split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") }?
                    .dropFirst("Set-Cookie: ".count))
            first.post("prov-config", [0xFF])
            #expect(await first.nextResponse().ending == .closed)
            let second = try RawHTTPPeer(address)
            second.post("prov-config", Self.status, headers: "Cookie: \(cookie)\r\n")
            let response = await second.nextResponse()
            #expect(response.body == Self.connecting && !response.text.contains("Set-Cookie"))
        }
    }

    @Test("a query is found out last: without a cookie, the session that was there has ended by then")
    func queryEndsSession() async throws {
        try await withServer { address in
            let first = try RawHTTPPeer(address)
            first.post("proto-ver", [0x2D])
            let cookie = try #require(
                await first.nextResponse().text.split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") }?
                    .dropFirst("Set-Cookie: ".count))
            // With the cookie it is the session's own, and harms nothing.
            for (headers, isNew) in [("Cookie: \(cookie)\r\n", false), ("", true)] {
                let query = try RawHTTPPeer(address)
                query.post("proto-ver?x=1", [0x2D], headers: headers)
                let response = await query.nextResponse()
                #expect(response.text.isEmpty && response.ending == .closed)
                let next = try RawHTTPPeer(address)
                next.post("prov-config", Self.status, headers: "Cookie: \(cookie)\r\n")
                #expect(await next.nextResponse().text.contains("Set-Cookie") == isNew)
            }
        }
    }

    @Test("a blocking scan answers when it is done, and the server waits with it")
    func blockingScan() async throws {
        try await withServer(["--channel-delay", "0.02"]) { address in
            let peer = try RawHTTPPeer(address)
            let start = ContinuousClock.now
            peer.post("prov-scan", hex("520408012078"))
            #expect(await peer.nextResponse().body == hex("08015a00"))
            // Thirteen channels, one after the other.
            #expect(ContinuousClock.now - start >= .milliseconds(13 * 20 - 1))
            peer.post("prov-scan", hex("0802"))
            #expect(await peer.nextResponse().body == hex("08036a0408011001"))
        }
    }

    @Test("a second after Connected was reported, the server is gone; the process is not")
    func stops() async throws {
        try await withBoard(
            ["--http", "127.0.0.1:0", "--security", "0", "--wifi", "Net:password", "--join-delay", "0"]
        ) { child, ready in
            let address = try #require(ready["http"]?.string)
            let peer = try RawHTTPPeer(address)
            peer.post("prov-config", hex("0802620f0a034e6574120870617373776f7264"))
            #expect(await peer.nextResponse().body == hex("08036a00"))
            peer.post("prov-config", hex("0804"))
            #expect(await peer.nextResponse().body == hex("08057a00"))
            peer.post("prov-config", Self.status)
            #expect(await peer.nextResponse().body.count > 20)
            #expect(await peer.nextBytes() == [])
            #expect(throws: RawHTTPPeer.Failure.self) { try RawHTTPPeer(address) }
            #expect(try await child.terminate(within: Timings.limit(.seconds(1))) == .exited(0))
        }
    }

    @Test("curl can post to it")
    func curl() async throws {
        try await withTemporaryFolder { folder in
            try await withServer { address in
                try folder.write("R\u{03}", to: "body")
                let version = try await run(
                    "curl", ["-s", "--data-binary", "---", "http://\(address)/proto-ver"])
                let json = try JSONValue(parsing: Array(version.standardOutput.utf8))
                #expect(json["prov"]?["sec_ver"] == 0)
                let missing = try await run(
                    "curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "x", "http://\(address)/no"])
                #expect(missing.standardOutput == "404")
                let refused = try await run(
                    "curl", ["-s", "--data-binary", "@\(folder.file("body"))", "http://\(address)/prov-session"])
                // 52: the server returned nothing.
                #expect(refused.status == .exited(52))
            }
        }
    }
}
