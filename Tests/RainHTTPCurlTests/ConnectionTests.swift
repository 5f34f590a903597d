// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl
import TestSupport
import Testing

@Suite("Which connection carries a request")
struct ConnectionTests {
    private let client = CurlHTTPClient()

    private func post(_ server: LoopbackServer, on connection: HTTPRequest.Connection) -> HTTPRequest {
        HTTPRequest(method: .post, url: server.url, body: [1], connection: connection)
    }

    @Test("a pooled connection is used again")
    func pooled() async throws {
        let server = try LoopbackServer { peer in
            while peer.readRequest() != nil { peer.respond("200 OK", "\(peer.connection)") }
        }
        for _ in 1...3 {
            #expect(text(try await client.send(post(server, on: .pooled)).body) == "1")
        }
        #expect(server.connections == 1)
    }

    @Test("two hundred requests at once share 32 connections to their host, and all are answered")
    func bounded() async throws {
        let server = try LoopbackServer { peer in
            while peer.readRequest() != nil { peer.respond("200 OK", "\(peer.connection)") }
        }
        let (client, request) = (client, post(server, on: .pooled))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...200 { group.addTask { try await client.send(request).status } }
            for try await status in group { #expect(status == 200) }
        }
        #expect((1...32).contains(server.connections))
    }

    @Test("a fresh connection is closed afterwards, and never a pooled one")
    func fresh() async throws {
        let (closed, closing) = AsyncStream.makeStream(of: Bool.self)
        let server = try LoopbackServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.respond()
            closing.yield(peer.waitForClose())
        }
        for _ in 1...3 { _ = try await client.send(post(server, on: .fresh)) }
        #expect(server.connections == 3)
        var wasClosed = closed.makeAsyncIterator()
        for _ in 1...3 { #expect(await wasClosed.next() == true) }
    }

    @Test("a kept connection carries all requests of its name and no others")
    func kept() async throws {
        let server = try LoopbackServer { peer in
            while peer.readRequest() != nil { peer.respond("200 OK", "\(peer.connection)") }
        }
        #expect(text(try await client.send(post(server, on: .kept("a"))).body) == "1")
        #expect(text(try await client.send(post(server, on: .kept("b"))).body) == "2")
        #expect(text(try await client.send(post(server, on: .pooled)).body) == "3")
        #expect(text(try await client.send(post(server, on: .kept("a"))).body) == "1")
        #expect(text(try await client.send(post(server, on: .kept("b"))).body) == "2")
        #expect(text(try await client.send(post(server, on: .pooled)).body) == "3")
    }

    @Test("requests at once on a kept connection go one after the other")
    func keptQueue() async throws {
        let server = try LoopbackServer { peer in
            while peer.readRequest() != nil { peer.respond("200 OK", "\(peer.connection)") }
        }
        let client = client
        let request = post(server, on: .kept("a"))
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 1...20 { group.addTask { try await client.send(request).body } }
            for try await body in group { #expect(text(body) == "1") }
        }
        #expect(server.connections == 1)
    }

    @Test("closing a kept connection reaches the server, and the next request opens another")
    func closeKept() async throws {
        let (closed, closing) = AsyncStream.makeStream(of: Bool.self)
        let server = try LoopbackServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.respond("200 OK", "\(peer.connection)")
            closing.yield(peer.waitForClose())
        }
        _ = try await client.send(post(server, on: .kept("a")))
        await client.close(kept: "a")
        var wasClosed = closed.makeAsyncIterator()
        #expect(await wasClosed.next() == true)
        #expect(text(try await client.send(post(server, on: .kept("a"))).body) == "2")
    }

    /// The server answers once, then reads the next request and closes the connection. To the client this looks like a stale
    /// connection, for which libcurl would send the request again.
    private func closingAfterSecondRequest(bySending last: String = "") throws -> LoopbackServer {
        try LoopbackServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.respond("200 OK", "\(peer.connection)")
            _ = peer.readRequest()
            peer.write(last)
        }
    }

    @Test(
        "a request is never sent twice when the connection dies under it",
        arguments: [
            (HTTPRequest.Method.post, HTTPRequest.Connection.pooled, 1), (.put, .pooled, 1), (.delete, .pooled, 0),
            (.post, .pooled, 0), (.post, .kept("a"), 1), (.post, .kept("a"), 0), (.get, .kept("a"), 0),
        ])
    func neverTwice(method: HTTPRequest.Method, connection: HTTPRequest.Connection, bytes: Int) async throws {
        let server = try closingAfterSecondRequest()
        let request = HTTPRequest(
            method: method, url: server.url, body: [UInt8](repeating: 7, count: bytes), connection: connection)
        #expect(try await client.send(request).status == 200)
        let error = await client.failure(request)
        #expect(error?.code == .closed)
        #expect(error?.receivedBytes == false)
        #expect(server.seen.count == 2)
        #expect(try await client.send(request).status == 200, "the next request opens another connection")
        #expect(server.connections >= 2)
    }

    @Test("a GET on a pooled connection that died is sent again, once")
    func repeatedGet() async throws {
        let server = try closingAfterSecondRequest()
        let request = HTTPRequest(method: .get, url: server.url)
        #expect(text(try await client.send(request).body) == "1")
        #expect(text(try await client.send(request).body) == "2")
        #expect(server.seen.count == 3)
    }

    @Test("a connection that the server closed while it was idle is replaced before anything is sent")
    func staleConnection() async throws {
        let (closed, closing) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.respond("200 OK", "\(peer.connection)")
            peer.close()
            closing.yield()
        }
        var wasClosed = closed.makeAsyncIterator()
        for number in 1...5 {
            let response = try await client.send(post(server, on: .kept("a")))
            #expect(text(response.body) == "\(number)")
            await wasClosed.next()
        }
        #expect(server.seen.count == 5)
    }
}
