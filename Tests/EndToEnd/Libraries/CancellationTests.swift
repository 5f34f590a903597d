// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import RainHTTP
import RainHTTPCurl
import Synchronization
import TestSupport
import Testing

@Suite("Cancelling and closing")
struct CancellationTests {
    /// Tells when a request has arrived and when the client has closed its connection.
    private func silentServer() throws -> (LoopbackServer, AsyncStream<Bool>) {
        let (events, event) = AsyncStream.makeStream(of: Bool.self)
        let server = try LoopbackServer { peer in
            guard peer.readRequest() != nil else { return }
            event.yield(true)
            event.yield(peer.waitForClose())
        }
        return (server, events)
    }

    @Test("a child that the program starts does not inherit a connection and keep it open")
    func children() async throws {
        let client = CurlHTTPClient()
        let (server, events) = try silentServer()
        var event = events.makeAsyncIterator()
        let task = Task { await client.failure(HTTPRequest(method: .post, url: server.url, deadline: .seconds(60))) }
        #expect(await event.next() == true)
        try await withChildProcess("cat", input: .open) { child in
            child.write("ready\n")
            _ = try await child.readyLine()
            task.cancel()
            #expect(await event.next() == true, "the server sees the connection closed while the child lives")
        }
        #expect(await task.value?.code == .cancelled)
    }
}
