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

    @Test(
        "cancelling a request closes its connection at once",
        arguments: [HTTPRequest.Connection.pooled, .fresh, .kept("a")])
    func cancel(connection: HTTPRequest.Connection) async throws {
        let client = CurlHTTPClient()
        let (server, events) = try silentServer()
        var event = events.makeAsyncIterator()
        let request = HTTPRequest(method: .post, url: server.url, deadline: .seconds(60), connection: connection)
        let task = Task { await client.failure(request) }
        #expect(await event.next() == true)
        task.cancel()
        #expect(await event.next() == true, "the server sees the connection closed")
        #expect(await task.value?.code == .cancelled)
    }

    @Test("a request of a cancelled task is never sent")
    func cancelledBefore() async throws {
        let client = CurlHTTPClient()
        let server = try LoopbackServer { _ = $0.readRequest() }
        let request = HTTPRequest(method: .get, url: server.url)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await client.failure(request)
        }
        #expect(await task.value?.code == .cancelled)
        #expect(server.connections == 0)
    }

    @Test(
        "a request that waits for a kept connection can be cancelled, and has a deadline, without harm to the one before"
    )
    func waiting() async throws {
        let client = CurlHTTPClient()
        let (events, event) = AsyncStream.makeStream(of: Void.self)
        let (permits, permit) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { peer in
            while peer.readRequest() != nil {
                event.yield()
                let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
                sem_init(semaphore, 0, 0)
                let posted = UInt(bitPattern: semaphore)
                Task {
                    for await _ in permits { break }
                    sem_post(UnsafeMutablePointer(bitPattern: posted)!)
                }
                sem_wait(semaphore)
                semaphore.deallocate()
                peer.respond()
            }
        }
        let request = HTTPRequest(method: .post, url: server.url, deadline: .seconds(60), connection: .kept("a"))
        let first = Task { await client.failure(request) }
        var arrivals = events.makeAsyncIterator()
        await arrivals.next()
        let second = Task { await client.failure(request) }
        second.cancel()
        #expect(await second.value?.code == .cancelled)
        var brief = request
        brief.deadline = .milliseconds(50)
        #expect(await client.failure(brief)?.code == .timeout)
        permit.yield()
        #expect(await first.value == nil)
        #expect(server.seen.count == 1)
    }

    @Test("closing the client ends what is under way; nothing can be sent afterwards")
    func close() async throws {
        let client = CurlHTTPClient()
        let (server, events) = try silentServer()
        var event = events.makeAsyncIterator()
        let request = HTTPRequest(method: .post, url: server.url, deadline: .seconds(60))
        let task = Task { await client.failure(request) }
        #expect(await event.next() == true)
        client.close()
        #expect(await event.next() == true)
        #expect(await task.value?.code == .cancelled)
        #expect(await client.failure(request)?.code == .cancelled)
    }

    private final class Ended: Sendable { let count = Atomic(0) }

    /// Most of these have reached nobody yet when the client is closed.
    @Test(
        "a request that begins while the client is closed ends, too, whoever has libcurl's turn",
        arguments: isSoak ? [(false, 1500), (true, 300)] : [(false, 150), (true, 30)])
    func closeWhileBeginning(isBusy: Bool, rounds: Int) async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { peer in
            guard let request = peer.readRequest() else { return }
            if request.requestLine.contains("/slow") { arrival.yield() }
            peer.waitForClose()
        }
        var slow = arrivals.makeAsyncIterator()
        for round in 0..<rounds {
            let client = CurlHTTPClient()
            let ended = Ended()
            let begin = { (path: String) in
                let request = HTTPRequest(method: .post, url: server.url + path, deadline: .seconds(60))
                _ = Task {
                    #expect(await client.failure(request)?.code == .cancelled)
                    ended.count.add(1, ordering: .acquiringAndReleasing)
                }
            }
            if isBusy {
                begin("slow")
                await slow.next()
            }
            Thread.detachNewThread {
                usleep(UInt32(round % 50))
                client.close()
            }
            for _ in 0..<2 { begin("") }
            let count = isBusy ? 3 : 2
            let end = ContinuousClock.now + .seconds(120)
            while ended.count.load(ordering: .acquiring) < count {
                try #require(ContinuousClock.now < end, "round \(round): a request that nobody answers")
                try await Task.sleep(for: .microseconds(200))
            }
        }
    }

    @Test("letting the client go closes its idle connections")
    func drop() async throws {
        let (events, event) = AsyncStream.makeStream(of: Bool.self)
        let server = try LoopbackServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.respond()
            event.yield(peer.waitForClose())
        }
        do {
            let client = CurlHTTPClient()
            for connection in [HTTPRequest.Connection.pooled, .kept("a")] {
                _ = try await client.send(HTTPRequest(method: .post, url: server.url, connection: connection))
            }
        }
        var closed = events.makeAsyncIterator()
        #expect(await closed.next() == true)
        #expect(await closed.next() == true)
    }

    @Test("many requests, cancelled at any moment, each end exactly once")
    func storm() async throws {
        let client = CurlHTTPClient()
        let server = try LoopbackServer { peer in
            while peer.readRequest() != nil { peer.respond() }
        }
        await withTaskGroup(of: HTTPError.Code?.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let request = HTTPRequest(
                        method: .post, url: server.url, connection: number % 3 == 0 ? .kept("\(number % 7)") : .pooled)
                    let task = Task { await client.failure(request)?.code }
                    for _ in 0..<number % 11 { await Task.yield() }
                    if number % 2 == 0 { task.cancel() }
                    return await task.value
                }
            }
            for await code in group { #expect(code == nil || code == .cancelled) }
        }
    }
}
