// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import RainHTTP
import RainHTTPCurl
import Synchronization
import TestSupport
import Testing

/// The server is nghttpd, which supports only HTTP/2. A relay in front of it can let its connections go dead, as a restarted router does:
/// nothing is refused, and nothing arrives any more.
@Suite("HTTP/2 connections whose way is gone", .timeLimit(.minutes(5)))
struct DeadConnectionTests {
    @Test("after a request that timed out the next one has its own connection, and that one is used on")
    func afterTimeout() async throws {
        try await withServer { client, relay in
            #expect(await client.failure(relay.request(within: .waitLimit)) == nil)
            #expect(await client.failure(relay.request(within: .waitLimit)) == nil)
            #expect(relay.server.connections == 1)
            relay.letDie()
            #expect(await client.failure(relay.request(within: .milliseconds(300)))?.code == .timeout)
            for _ in 1...3 { #expect(await client.failure(relay.request(within: .waitLimit)) == nil) }
            #expect(relay.server.connections == 2)
        }
    }

    @Test("so it has after one that its caller gave up")
    func afterCancellation() async throws {
        try await withServer { client, relay in
            // With the second one what the client acknowledges of the first has passed: only a request is swallowed from then on.
            for _ in 1...2 { #expect(await client.failure(relay.request(within: .waitLimit)) == nil) }
            relay.letDie()
            let arrivals = relay.swallowed
            let task = Task { await client.failure(relay.request(within: .seconds(60))) }
            while relay.swallowed == arrivals { try await Task.sleep(for: .milliseconds(2)) }
            task.cancel()
            #expect(await task.value?.code == .cancelled)
            #expect(await client.failure(relay.request(within: .waitLimit)) == nil)
            #expect(relay.server.connections == 2)
        }
    }

    @Test("and while others still wait on the dead one")
    func whileOthersWait() async throws {
        try await withServer { client, relay in
            // With the second one what the client acknowledges of the first has passed: only a request is swallowed from then on.
            for _ in 1...2 { #expect(await client.failure(relay.request(within: .waitLimit)) == nil) }
            relay.letDie()
            let arrivals = relay.swallowed
            let patient = Task { await client.failure(relay.request(within: .seconds(60))) }
            while relay.swallowed == arrivals { try await Task.sleep(for: .milliseconds(2)) }
            #expect(await client.failure(relay.request(within: .milliseconds(300)))?.code == .timeout)
            for _ in 1...3 { #expect(await client.failure(relay.request(within: .waitLimit)) == nil) }
            patient.cancel()
            #expect(await patient.value?.code == .cancelled)
            let count = relay.server.connections
            for _ in 1...3 { #expect(await client.failure(relay.request(within: .waitLimit)) == nil) }
            #expect(relay.server.connections == count, "with the last of them the dead connection is forgotten")
        }
    }

    @Test("the kernel checks by itself whether the connection still works")
    func probed() async throws {
        let server = try LoopbackServer { peer in
            while peer.readRequest() != nil { peer.respond() }
        }
        let client = CurlHTTPClient()
        _ = try await client.send(HTTPRequest(method: .get, url: server.url))
        let descriptor = try #require((0..<1024).first { isConnected($0, to: server.port) })
        #expect(option(descriptor, SOL_SOCKET, SO_KEEPALIVE) == 1)
        #expect(option(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE) == 15)
        #expect(option(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL) == 5)
        #expect(option(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT) == 15_000)
        client.close()
    }

    private func isConnected(_ descriptor: Int32, to port: Int) -> Bool {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return failed == 0 && address.sin_family == AF_INET && Int(UInt16(bigEndian: address.sin_port)) == port
    }

    private func option(_ descriptor: Int32, _ level: Int32, _ name: Int32) -> Int32 {
        var value: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, level, name, &value, &length)
        return value
    }

    private func withServer(_ body: @Sendable (CurlHTTPClient, Relay) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await ServerCertificate(names: "IP:127.0.0.1").issue(in: folder)
            try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.file("index.html")))
            let port = try LoopbackServer.assignablePort()
            let arguments = [
                "--address=127.0.0.1", "--htdocs=\(folder.path)", "\(port)", folder.file("server.key"),
                folder.file("server.pem"),
            ]
            try await withChildProcess("nghttpd", arguments) { _ in
                let relay = try Relay(to: port)
                let end = ContinuousClock.now + .waitLimit
                // It says nothing when it is ready.
                while true {
                    let descriptor = connect(to: port)
                    close(descriptor)
                    if descriptor >= 0 { break }
                    try #require(ContinuousClock.now < end, "nghttpd does not listen")
                    try await Task.sleep(for: .milliseconds(5))
                }
                let client = CurlHTTPClient(CurlConfiguration(certificateAuthorities: folder.file("ca.pem")))
                try await body(client, relay)
                client.close()
            }
        }
    }
}

/// Hands everything on between its clients and the server at a port of this machine.
private final class Relay: Sendable {
    private struct State {
        /// The last connection that is dead.
        var lastDead = 0
        var swallowed = 0
    }

    let server: LoopbackServer
    private let state: SharedState

    private final class SharedState: Sendable { let value = Mutex(State()) }

    init(to port: Int) throws {
        let state = SharedState()
        self.state = state
        server = try LoopbackServer { peer in
            let isDead: @Sendable () -> Bool = { state.value.withLock { $0.lastDead >= peer.connection } }
            let upstream = connect(to: port)
            guard upstream >= 0 else { return }
            let answers = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                var buffer = [UInt8](repeating: 0, count: 16 << 10)
                while true {
                    let count = recv(upstream, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    if !isDead(), !peer.write(Array(buffer[..<count])) { break }
                }
                answers.signal()
            }
            while let bytes = peer.read(16 << 10), !bytes.isEmpty {
                if isDead() {
                    state.value.withLock { $0.swallowed += bytes.count }
                } else if bytes.withUnsafeBytes({ send(upstream, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }) < 0 {
                    break
                }
            }
            shutdown(upstream, Int32(SHUT_RDWR))
            answers.wait()
            close(upstream)
        }
    }

    /// How many bytes came for dead connections.
    var swallowed: Int { state.value.withLock { $0.swallowed } }

    /// From now on nothing passes on the connections that there are.
    func letDie() { state.value.withLock { $0.lastDead = server.connections } }

    func request(within deadline: Duration) -> HTTPRequest {
        HTTPRequest(method: .get, url: "https://127.0.0.1:\(server.port)/index.html", deadline: deadline)
    }
}

private func connect(to port: Int) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let failed = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    guard failed == 0 else {
        close(descriptor)
        return -1
    }
    return descriptor
}
