// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl
import TestSupport
import Testing

/// A server that sends what a client has to skip, in place of its certificate, as fast as it is read.
@Suite("A TLS handshake without end")
struct EndlessHandshakeTests {
    /// HelloRequest (RFC 5246, section 7.4.1.1), each in a record of its own.
    private static let records = (0..<4096).flatMap { _ in [0x16, 3, 3, 0, 4, 0, 0, 0, 0] as [UInt8] }

    private func flood() throws -> (LoopbackServer, AsyncStream<Void>) {
        let (floods, flooding) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer(remembersRequests: false) { peer in
            guard peer.read(16) != nil else { return }
            for count in 1... {
                guard peer.write(Self.records) else { return }
                // More than the sockets' buffers hold: the client is in the midst of it.
                if count == 200 { flooding.yield() }
            }
        }
        return (server, floods)
    }

    @Test(
        "a request has its deadline", .timeLimit(.minutes(10)),
        arguments: [HTTPRequest.Connection.pooled, .fresh, .kept("a")])
    func deadline(connection: HTTPRequest.Connection) async throws {
        let (server, _) = try flood()
        let url = "https://127.0.0.1:\(server.port)/"
        let client = CurlHTTPClient()
        let request = HTTPRequest(method: .get, url: url, deadline: .milliseconds(500), connection: connection)
        #expect(await client.failure(request)?.code == .timeout)
        // The driving thread is back.
        let answering = try LoopbackServer { peer in
            _ = peer.readRequest()
            peer.respond("200 OK")
        }
        #expect(await client.failure(HTTPRequest(method: .get, url: answering.url)) == nil)
    }

    @Test("a request can be cancelled", .timeLimit(.minutes(10)))
    func cancelled() async throws {
        let (server, floods) = try flood()
        let url = "https://127.0.0.1:\(server.port)/"
        let client = CurlHTTPClient()
        let task = Task { await client.failure(HTTPRequest(method: .get, url: url, deadline: .seconds(600))) }
        var flooding = floods.makeAsyncIterator()
        await flooding.next()
        task.cancel()
        #expect(await task.value?.code == .cancelled)
    }
}
