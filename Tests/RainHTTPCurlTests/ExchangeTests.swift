// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl
import TestSupport
import Testing

@Suite("An exchange by libcurl")
struct ExchangeTests {
    private let client = CurlHTTPClient()

    @Test(
        "only the given headers go out, besides Host and the length",
        arguments: [HTTPRequest.Method.get, .post, .put, .delete])
    func headers(method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer { peer in
            if peer.readRequest() != nil { peer.respond() }
        }
        let body: [UInt8] = method == .get ? [] : Array("{}".utf8)
        let request = HTTPRequest(
            method: method, url: server.url + "a?b=c", headers: [HTTPHeader("X-One", "1"), HTTPHeader("X-Empty", "")],
            body: body)
        _ = try await client.send(request)
        let seen = try #require(server.seen.first)
        var expected = ["\(method.rawValue) /a?b=c HTTP/1.1", "Host: 127.0.0.1:\(server.port)", "X-One: 1", "X-Empty:"]
        if method != .get { expected.append("Content-Length: 2") }
        #expect(Set(seen.lines.map(trimmed)) == Set(expected))
        #expect(seen.body == body)
    }

    @Test("a body of any size is sent without asking whether to continue", arguments: [0, 1, 5_000, 3_000_000])
    func bodies(size: Int) async throws {
        let server = try LoopbackServer { peer in
            if peer.readRequest() != nil { peer.respond() }
        }
        let body = [UInt8](repeating: 0xAB, count: size)
        _ = try await client.send(HTTPRequest(method: .post, url: server.url, body: body))
        let seen = try #require(server.seen.first)
        #expect(seen.body == body)
        #expect(seen.header("Content-Length") == "\(size)")
        #expect(seen.header("Expect") == nil)
    }

    @Test("every status is a response, with its headers in order", arguments: [200, 204, 302, 401, 404, 500, 503])
    func statuses(status: Int) async throws {
        let server = try LoopbackServer { peer in
            if peer.readRequest() != nil {
                peer.respond("\(status) X", headers: ["Location: http://127.0.0.1:1/", "X-A: 1", "x-a:  2 "])
            }
        }
        let response = try await client.send(HTTPRequest(method: .get, url: server.url))
        #expect(response.status == status)
        #expect(response.headers.filter { $0.name.lowercased() == "x-a" }.map(\.value) == ["1", "2"])
        #expect(server.connections == 1)
    }

    @Test("interim responses and trailers leave no headers behind")
    func interim() async throws {
        let server = try LoopbackServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.write("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n")
            peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Late: 2\r\n\r\n")
            peer.write("3\r\nabc\r\n0\r\nX-Trailer: 3\r\n\r\n")
        }
        let response = try await client.send(HTTPRequest(method: .get, url: server.url))
        #expect(text(response.body) == "abc")
        #expect(response.header("x-late") == "2")
        #expect(response.header("X-Early") == nil)
        #expect(response.header("X-Trailer") == nil)
    }

    @Test("a body that comes byte by byte is put together")
    func slowBody() async throws {
        let server = try LoopbackServer { peer in
            guard peer.readRequest() != nil else { return }
            for byte in Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc".utf8) { peer.write([byte]) }
        }
        let response = try await client.send(HTTPRequest(method: .get, url: server.url))
        #expect(text(response.body) == "abc")
    }

    @Test("a hundred requests at once each get their own answer")
    func concurrent() async throws {
        let server = try LoopbackServer { peer in
            while let request = peer.readRequest() { peer.respond("200 OK", text(request.body)) }
        }
        let client = client
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let request = HTTPRequest(method: .post, url: server.url, body: Array("\(number) ok".utf8))
                    return text(try await client.send(request).body) == "\(number) ok"
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(Set(server.seen.map { text($0.body) }).count == 100)
    }

    @Test(
        "what must not be sent is refused before anything is",
        arguments: [
            HTTPRequest(method: .get, url: "ftp://127.0.0.1/"), HTTPRequest(method: .get, url: "file:///etc/passwd"),
            HTTPRequest(method: .get, url: "127.0.0.1"), HTTPRequest(method: .get, url: ""),
            HTTPRequest(method: .get, url: "http:///x"), HTTPRequest(method: .get, url: "http://user:pw@127.0.0.1/"),
            HTTPRequest(method: .get, url: "http://127.0.0.1/a b"),
            HTTPRequest(method: .get, url: "http://127.0.0.1/\r\nX: y"),
            HTTPRequest(method: .get, url: "http://127.0.0.1:99999/"),
            HTTPRequest(method: .get, url: "http://127.0.0.1/", headers: [HTTPHeader("X", "a\r\nY: b")]),
            HTTPRequest(method: .get, url: "http://127.0.0.1/", headers: [HTTPHeader("X", "a\nb")]),
            HTTPRequest(method: .get, url: "http://127.0.0.1/", headers: [HTTPHeader("X", "a\u{0}b")]),
            HTTPRequest(method: .get, url: "http://127.0.0.1/", headers: [HTTPHeader("X Y", "a")]),
            HTTPRequest(method: .get, url: "http://127.0.0.1/", headers: [HTTPHeader("", "a")]),
            HTTPRequest(method: .get, url: "http://127.0.0.1/", headers: [HTTPHeader("X:", "a")]),
            HTTPRequest(method: .get, url: "http://127.0.0.1/", headers: [HTTPHeader("Content-Length", "1")]),
            HTTPRequest(method: .get, url: "http://127.0.0.1/", deadline: .zero),
        ])
    func refused(request: HTTPRequest) async {
        #expect(await client.failure(request)?.code == .invalidRequest)
    }

    private func trimmed(_ line: String) -> String { line.last == " " ? String(line.dropLast()) : line }
}
