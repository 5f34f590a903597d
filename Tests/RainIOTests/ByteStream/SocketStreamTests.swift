// SPDX-License-Identifier: Apache-2.0
import RainIO
import Testing

@Suite("A byte stream on a socket", .timeLimit(.minutes(10)))
struct SocketStreamTests {
    @Test("a sender waits for a late reader, and nothing is lost")
    func backPressure() async throws {
        let (stream, far) = try await StreamKind.tcp.open()
        let block = (0..<65_536).map { UInt8($0 / 256) }
        let all = [[UInt8]](repeating: block, count: 256).flatMap(\.self)
        let sending = Task { await far.send(all) }
        var received: [UInt8] = []
        while received.count < all.count {
            let bytes = try await stream.read()
            #expect(bytes.count <= ByteStream.inputCapacity + 4096)
            received += bytes
        }
        await sending.value
        #expect(received == all)
        await stream.close()
    }

    @Test("what arrived is there without waiting, and makes room for more")
    func available() async throws {
        let (stream, far) = try await StreamKind.socketPair.open()
        let count = 4 * ByteStream.inputCapacity
        let sending = Task { await far.send([UInt8](repeating: 0x55, count: count)) }
        var received = 0
        while received < count {
            received += stream.readAvailable().count
            await Task.yield()
        }
        await sending.value
        await stream.close()
    }

    @Test("where the other side sends no more, it can still be written to")
    func halfClosed() async throws {
        let (stream, far) = try await StreamKind.tcp.open()
        try #require(far as? SocketEnd).endSending()
        #expect(await code { _ = try await stream.read() } == .ended)
        try await stream.write([0x78])
        #expect(await far.receive() == [0x78])
        await stream.close()
        #expect(await far.receive() == [])
    }

    @Test("a connection that breaks is lost to who reads and who writes")
    func broken() async throws {
        let (stream, far) = try await StreamKind.tcp.open()
        let waiting = Task { try await stream.read() }
        try #require(far as? SocketEnd).reset()
        #expect(await code { _ = try await waiting.value } == .lost)
        #expect(await code { try await stream.write([1]) } == .lost)
        await stream.close()
    }

    @Test("a stream that nobody holds any more closes itself")
    func dropped() async throws {
        let far: any FarEnd
        do { (_, far) = try await StreamKind.tcp.open() }
        #expect(await far.receive() == [])
    }
}
