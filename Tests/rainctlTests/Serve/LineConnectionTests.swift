// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import RainKit
import Synchronization
import TestSupport
import Testing

@testable import rainctl

@Suite("The connection of rainctl serve to a client")
struct LineConnectionTests {
    /// Two pipes, and the connection between them.
    private final class Bench: Sendable {
        let toServer: Int32
        let fromServer: Int32
        private let inner: (input: Int32, output: Int32)
        let connection: LineConnection
        let received = Mutex<[UInt8]>([])
        let ended = Waiter<Void>()
        let lost = Waiter<Void>()
        let closed = Waiter<Void>()

        init() throws {
            var (requests, answers): ([Int32], [Int32]) = ([0, 0], [0, 0])
            try #require(pipe(&requests) == 0)
            try #require(pipe(&answers) == 0)
            (toServer, fromServer) = (requests[1], answers[0])
            inner = (requests[0], answers[1])
            connection = try LineConnection(input: requests[0], output: answers[1])
        }

        func start() {
            _ = startThread { [self] in
                connection.run(
                    .init(
                        received: { bytes in self.received.withLock { $0 += bytes } }, ended: { self.ended.resume() },
                        lost: { self.lost.resume() }))
                close(inner.input)
                close(inner.output)
                closed.resume()
            }
        }
    }

    @Test("lines arrive in their order, however slowly the client reads, and the connection waits for the last one")
    func order() async throws {
        let bench = try Bench()
        bench.start()
        let lines = (0..<300).map { "\($0) " + String(repeating: "x", count: $0 * 13) }
        for line in lines { bench.connection.send(line) }
        bench.connection.finish()
        let text = try await onInterruptibleThread { [reader = bench.fromServer] _ in
            var all: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 700)
            while case let count = read(reader, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
            return String(decoding: all, as: UTF8.self)
        }
        #expect(text == lines.map { $0 + "\n" }.joined())
        await bench.closed.value()
        close(bench.toServer)
        close(bench.fromServer)
    }

    @Test("a client that closes its end of the answers is lost; one that ends its requests is not")
    func ends() async throws {
        let bench = try Bench()
        bench.start()
        #expect(write(bench.toServer, "abc", 3) == 3)
        close(bench.toServer)
        await bench.ended.value()
        #expect(bench.received.withLock { $0 } == Array("abc".utf8))
        bench.connection.send("still there")
        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(read(bench.fromServer, &buffer, 64) == 12)
        close(bench.fromServer)
        await bench.lost.value()
        bench.connection.send("nobody reads this")
        bench.connection.finish()
        await bench.closed.value()
    }

    @Test("a client that reads nothing is lost at a limit, and costs no more memory")
    func unread() async throws {
        let bench = try Bench()
        bench.start()
        let line = String(repeating: "x", count: 1 << 20)
        for _ in 0..<20 { bench.connection.send(line) }
        await bench.lost.value()
        bench.connection.finish()
        await bench.closed.value()
        close(bench.toServer)
        close(bench.fromServer)
    }
}
