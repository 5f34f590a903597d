// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainHTTP
import RainHTTPCurl
import Synchronization
import TestSupport
import Testing

/// A server that sends what a client has to skip, in place of its certificate, as fast as it is read.
@Suite("A TLS handshake without end")
struct EndlessHandshakeTests {
    /// HelloRequest (RFC 5246, section 7.4.1.1), each in its own record.
    private static let records = (0..<4096).flatMap { _ in [0x16, 3, 3, 0, 4, 0, 0, 0, 0] as [UInt8] }

    /// - Parameter amid: called on the server's thread when more was sent than the sockets' buffers hold: the client is in the midst of it.
    private func flood(amid: @escaping @Sendable () -> Void = {}) throws -> LoopbackServer {
        try LoopbackServer(remembersRequests: false) { peer in
            guard peer.read(16) != nil else { return }
            for count in 1... {
                guard peer.write(Self.records) else { return }
                if count == 200 { amid() }
            }
        }
    }

    @Test(
        "a request has its deadline", .timeLimit(.minutes(10)),
        arguments: [HTTPRequest.Connection.pooled, .fresh, .kept("a")])
    func deadline(connection: HTTPRequest.Connection) async throws {
        let server = try flood()
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
        let request = Mutex<Task<HTTPError?, Never>?>(nil)
        // From the server's own thread: until it is cancelled the flood leaves other tests little time.
        let server = try flood {
            while request.withLock({ $0?.cancel() }) == nil { usleep(1000) }
        }
        let url = "https://127.0.0.1:\(server.port)/"
        let client = CurlHTTPClient()
        let task = Task { await client.failure(HTTPRequest(method: .get, url: url, deadline: .seconds(600))) }
        request.withLock { $0 = task }
        #expect(await task.value?.code == .cancelled)
    }
}
