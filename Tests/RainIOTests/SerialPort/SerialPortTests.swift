// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import TestSupport
import Testing

@Suite("A serial port", .timeLimit(.minutes(10)))
struct SerialPortTests {
    func code(_ body: () async throws -> Void) async -> SerialPortError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? SerialPortError)?.code
        }
    }

    @Test("every byte value passes unchanged in both directions")
    func transparent() async throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort.open(terminal.path)
        let all = (0...255).map(UInt8.init)
        await terminal.send(all)
        var received: [UInt8] = []
        while received.count < all.count { received += try await port.read() }
        #expect(received == all)
        try await port.write(all)
        var sent: [UInt8] = []
        while sent.count < all.count { sent += await terminal.receive() }
        #expect(sent == all)
        await port.close()
    }

    @Test("the line is 115200 8N1, raw, local, and does not hang up on closing; other settings come back")
    func settings() async throws {
        let terminal = try PseudoTerminal()
        let before = terminal.settings
        let port = try SerialPort.open(terminal.path)
        let open = terminal.settings
        #expect(withUnsafePointer(to: open) { cfgetospeed($0) } == speed_t(B115200))
        #expect(open.c_cflag & tcflag_t(CSIZE) == tcflag_t(CS8))
        #expect(open.c_cflag & tcflag_t(PARENB | CSTOPB | HUPCL) == 0)
        #expect(open.c_cflag & tcflag_t(CLOCAL | CREAD) == tcflag_t(CLOCAL | CREAD))
        #expect(open.c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0)
        await port.close()
        let after = terminal.settings
        #expect(after.c_lflag == before.c_lflag)
        #expect(after.c_iflag == before.c_iflag)
        #expect(after.c_cflag & tcflag_t(HUPCL) == 0)
    }

    @Test("a port that is held is busy, and free again after closing")
    func exclusive() async throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort.open(terminal.path)
        #expect(await code { _ = try SerialPort.open(terminal.path) } == .busy)
        await port.close()
        await port.close()
        let again = try SerialPort.open(terminal.path)
        await again.close()
    }

    @Test("dropping the port without closing it lets go of it too")
    func dropped() async throws {
        let terminal = try PseudoTerminal()
        do { _ = try SerialPort.open(terminal.path) }
        while await code({ await (try SerialPort.open(terminal.path)).close() }) == .busy { await Task.yield() }
    }

    @Test("what cannot be opened says why")
    func unopenable() async throws {
        #expect(await code { _ = try SerialPort.open("/dev/ttyDoesNotExist") } == .notFound)
        #expect(await code { _ = try SerialPort.open("/dev/null") } == .notATerminal)
        try await withTemporaryFolder { folder in
            try folder.write("", to: "file")
            #expect(await code { _ = try SerialPort.open(folder.file("file")) } == .notATerminal)
        }
    }

    @Test("what arrived before the cable was pulled is read first, then the loss is reported")
    func unplugged() async throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort.open(terminal.path)
        await terminal.send("last words")
        var received: [UInt8] = []
        while received.count < 10 { received += try await port.read() }
        let waiting = Task { try await port.read() }
        terminal.unplug()
        #expect(await code { _ = try await waiting.value } == .lost)
        #expect(await code { _ = try await port.read() } == .lost)
        #expect(await code { try await port.write([1]) } == .lost)
        await port.close()
    }

    @Test("a cancelled read takes nothing away from the next one")
    func cancelledRead() async throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort.open(terminal.path)
        let waiting = Task { try await port.read() }
        waiting.cancel()
        #expect(await code { _ = try await waiting.value } == .cancelled)
        await terminal.send("x")
        #expect(try await port.read() == [UInt8(ascii: "x")])
        await port.close()
    }

    @Test("a write waits for room, can be cancelled, and closing ends it")
    func blockedWrite() async throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort.open(terminal.path)
        // Nobody reads at the far end, so the kernel's buffer fills.
        let large = [UInt8](repeating: 0x55, count: 1 << 20)
        let first = Task { try await port.write(large) }
        first.cancel()
        #expect(await code { try await first.value } == .cancelled)
        let second = Task { try await port.write(large) }
        _ = await terminal.receive()
        await port.close()
        #expect(await code { try await second.value } == .closed)
    }

    @Test("a megabyte gets through in order while the far end reads slowly")
    func largeWrite() async throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort.open(terminal.path)
        let large = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 / 7) }
        async let writing: Void = port.write(large)
        var received: [UInt8] = []
        while received.count < large.count { received += await terminal.receive() }
        try await writing
        #expect(received == large)
        await port.close()
    }

    @Test("a late reader finds the newest bytes, up to the capacity")
    func boundedInput() async throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort.open(terminal.path)
        // The end is like nothing before it, so that it is not taken for the end too early.
        let end: [UInt8] = [0xEE, 0x01, 0xEE, 0x02]
        let all = (0..<(3 * SerialPort.inputCapacity / 2)).map { UInt8(truncatingIfNeeded: $0 / 256) } + end
        for start in stride(from: 0, to: all.count, by: 2048) {
            await terminal.send(Array(all[start..<min(start + 2048, all.count)]))
        }
        // The far end's writes block until this end has taken them, but for one buffer of the kernel.
        var received: [UInt8] = []
        while !received.suffix(end.count).elementsEqual(end) { received += try await port.read() }
        #expect(received.count >= SerialPort.inputCapacity / 2 && received.count < all.count)
        #expect(Array(all.suffix(received.count)) == received)
        await port.close()
    }
}
