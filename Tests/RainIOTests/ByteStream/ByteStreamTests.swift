// SPDX-License-Identifier: Apache-2.0
import RainIO
import Testing

@Suite("A byte stream", .timeLimit(.minutes(10)))
struct ByteStreamTests {
    private static let large = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 / 7) }

    @Test("every byte value passes unchanged in both directions", arguments: StreamKind.allCases)
    func transparent(kind: StreamKind) async throws {
        let (stream, far) = try await kind.open()
        let all = (0...255).map(UInt8.init)
        await far.send(all)
        var received: [UInt8] = []
        while received.count < all.count { received += try await stream.read() }
        #expect(received == all)
        try await stream.write(all, within: .seconds(120))
        var sent: [UInt8] = []
        while sent.count < all.count { sent += await far.receive() }
        #expect(sent == all)
        await stream.close()
    }

    @Test("what arrived before the end is read first, then the end is reported", arguments: StreamKind.allCases)
    func end(kind: StreamKind) async throws {
        let (stream, far) = try await kind.open()
        await far.send(Array("last words".utf8))
        var received: [UInt8] = []
        while received.count < 10 { received += try await stream.read() }
        let waiting = Task { try await stream.read() }
        far.unplug()
        #expect(await code { _ = try await waiting.value } == .ended)
        #expect(await code { _ = try await stream.read() } == .ended)
        await stream.close()
    }

    @Test("a cancelled read takes nothing away from the next one", arguments: StreamKind.allCases)
    func cancelledRead(kind: StreamKind) async throws {
        let (stream, far) = try await kind.open()
        let waiting = Task { try await stream.read() }
        waiting.cancel()
        #expect(await code { _ = try await waiting.value } == .cancelled)
        await far.send([0x78])
        #expect(try await stream.read() == [0x78])
        await stream.close()
    }

    @Test(
        "a reader whose task is cancelled ends although bytes are waiting, and they are not lost",
        arguments: StreamKind.allCases)
    func cancelledReadWithInput(kind: StreamKind) async throws {
        let (stream, far) = try await kind.open()
        // The bytes have arrived before the read in nearly every round.
        for round in 0..<20 {
            let sent = (0..<100).map { UInt8($0 + round) }
            await far.send(sent)
            let reader = Task {
                while !Task.isCancelled { await Task.yield() }
                return await code { _ = try await stream.read() }
            }
            reader.cancel()
            #expect(await reader.value == .cancelled)
            var received: [UInt8] = []
            while received.count < sent.count { received += try await stream.read() }
            #expect(received == sent)
        }
        await stream.close()
    }

    @Test("a second reader takes the place of the first", arguments: StreamKind.allCases)
    func replacedRead(kind: StreamKind) async throws {
        let (stream, far) = try await kind.open()
        let readers = [0, 1].map { _ in Task { await code { _ = try await stream.read() } } }
        // The first one ends when the second one comes, the second one with what arrives.
        let firstEnd = await withTaskGroup { group in
            for reader in readers { group.addTask { await reader.value } }
            let firstEnd = await group.next() ?? nil
            await far.send([0x78])
            #expect(await group.next() == .some(nil))
            return firstEnd
        }
        #expect(firstEnd == .cancelled)
        await stream.close()
    }

    @Test("a write waits for room, can be cancelled, and closing ends it", arguments: StreamKind.allCases)
    func blockedWrite(kind: StreamKind) async throws {
        let (stream, far) = try await kind.open()
        // Nobody reads at the far end, so the kernel's buffer fills.
        let large = [UInt8](repeating: 0x55, count: 8 << 20)
        let first = Task { try await stream.write(large) }
        first.cancel()
        #expect(await code { try await first.value } == .cancelled)
        let second = Task { try await stream.write(large) }
        _ = await far.receive()
        await stream.close()
        #expect(await code { try await second.value } == .closed)
        #expect(await code { try await stream.write([1]) } == .closed)
    }

    @Test("a write that finds no room ends with its time", arguments: StreamKind.allCases)
    func lateWrite(kind: StreamKind) async throws {
        let (stream, far) = try await kind.open()
        let large = [UInt8](repeating: 0x55, count: 8 << 20)
        #expect(await code { try await stream.write(large, within: .milliseconds(50)) } == .timedOut)
        // The next one is not held up by what is left of it.
        async let next: Void = stream.write([0xEE])
        while await !far.receive().contains(0xEE) {}
        try await next
        await stream.close()
    }

    @Test("a megabyte gets through in order while the far end reads slowly", arguments: StreamKind.allCases)
    func largeWrite(kind: StreamKind) async throws {
        let (stream, far) = try await kind.open()
        async let writing: Void = stream.write(Self.large)
        var received: [UInt8] = []
        while received.count < Self.large.count { received += await far.receive() }
        try await writing
        #expect(received == Self.large)
        await stream.close()
    }

    @Test("closing ends a read, and twice is harmless", arguments: StreamKind.allCases)
    func closing(kind: StreamKind) async throws {
        let (stream, far) = try await kind.open()
        let waiting = Task { try await stream.read() }
        await stream.close()
        #expect(await code { _ = try await waiting.value } == .closed)
        await stream.close()
        #expect(await code { _ = try await stream.read() } == .closed)
        far.unplug()
    }
}

/// With what code `body` throws; nil where it does not.
func code(_ body: () async throws -> Void) async -> ByteStreamError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? ByteStreamError)?.code
    }
}
