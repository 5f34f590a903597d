// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import ProtocommTransports
import RainIO
import RainKitTesting
import TestSupport
import Testing

@Suite("The protocomm console as a transport", .timeLimit(.minutes(10)))
struct ConsoleTransportTests {
    /// Answers `prov-config` with its own request, one byte added; knows no other endpoint.
    @Sendable static func run(_ line: String) -> String? {
        let words = line.split(separator: " ")
        guard words.count == 3, words[0] == "prov-config" else { return "" }
        return "\r\r\n" + words[2] + "ff\r\r\n"
    }

    func transport(_ console: EchoingConsole) throws -> ConsoleTransport {
        ConsoleTransport(port: try SerialPort.open(console.terminal.path), sessionID: 4711, clock: ManualClock())
    }

    func code(_ body: () async throws -> [UInt8]) async -> BoardError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? BoardError)?.code
        }
    }

    @Test("a request is one line with endpoint, session and hex; an empty line before the first finds the prompt")
    func exchange() async throws {
        let board = try EchoingConsole(run: Self.run)
        let transport = try transport(board)
        #expect(try await transport.exchange([0x52, 0], on: .config) == [0x52, 0, 0xFF])
        #expect(try await transport.exchange([0x08], on: .config) == [0x08, 0xFF])
        let typed = board.typed
        #expect(typed.suffix(2) == ["prov-config 4711 5200", "prov-config 4711 08"])
        #expect(typed.dropLast(2).allSatisfy { $0.isEmpty })
        await transport.close()
    }

    @Test("an unknown endpoint is a refusal, told by the prompt and not by time")
    func refused() async throws {
        let board = try EchoingConsole(run: Self.run)
        let transport = try transport(board)
        #expect(await code { try await transport.exchange([1], on: .scan) } == .refused)
        #expect(try await transport.exchange([1], on: .config) == [1, 0xFF])
        await transport.close()
    }

    @Test("a log line between any two bytes of the echo changes nothing")
    func noisyEcho() async throws {
        let board = try EchoingConsole(
            interruptEcho: { line, position in
                line > 0 && position % 5 == line % 5 ? "\u{1B}[0;33mW (77) wifi: <ba-add>idx:0\u{1B}[0m\r\n" : nil
            }, run: Self.run)
        let transport = try transport(board)
        for byte in 0..<20 {
            let request = [UInt8(byte), 0xAB, 0xCD]
            #expect(try await transport.exchange(request, on: .config) == request + [0xFF])
        }
        await transport.close()
    }

    @Test(
        "the longest request fits into 255 characters with its CR, and one byte more is refused before anything is sent"
    )
    func longestLine() async throws {
        let board = try EchoingConsole(run: Self.run)
        let transport = try transport(board)
        let limit = try #require(transport.maximumRequestLength(on: .config))
        #expect("prov-config 4711 ".count + 2 * limit + 1 <= 255)
        #expect("prov-config 4711 ".count + 2 * (limit + 1) + 1 > 255)
        let request = [UInt8](repeating: 0xA5, count: limit)
        #expect(try await transport.exchange(request, on: .config) == request + [0xFF])
        let before = board.typed.count
        #expect(await code { try await transport.exchange(request + [0], on: .config) } == .tooLong)
        #expect(board.typed.count == before)
        // Command0 of Security 2, with a user name of eight letters.
        let handshakeLimit = try #require(transport.maximumRequestLength(on: .session))
        #expect(handshakeLimit < 406)
        await transport.close()
    }

    @Test("the session id is a random positive number that every line carries")
    func sessionID() async throws {
        let board = try EchoingConsole(run: Self.run)
        let transport = ConsoleTransport(port: try SerialPort.open(board.terminal.path), clock: ManualClock())
        _ = try await transport.exchange([1], on: .config)
        _ = try await transport.exchange([2], on: .config)
        let ids = board.typed.suffix(2).compactMap { Int32($0.split(separator: " ")[1]) }
        #expect(ids.count == 2 && ids[0] == ids[1] && ids[0] > 0)
        await transport.close()
    }

    @Test("what was logged before the request is not taken for its answer")
    func staleInput() async throws {
        let board = try EchoingConsole(run: Self.run)
        let transport = try transport(board)
        _ = try await transport.exchange([1], on: .config)
        await board.terminal.send("\r\n\r\ndeadbeef\r\n\n>> ")
        #expect(try await transport.exchange([2], on: .config) == [2, 0xFF])
        await transport.close()
    }

    @Test("a cancelled exchange ends at once")
    func cancelled() async throws {
        let board = try EchoingConsole(run: { $0.hasPrefix("prov-scan") ? nil : Self.run($0) })
        let transport = try transport(board)
        _ = try await transport.exchange([1], on: .config)
        let task = Task { try await transport.exchange([1], on: .scan) }
        while !board.typed.contains(where: { $0.hasPrefix("prov-scan") }) { await Task.yield() }
        task.cancel()
        #expect(await code { try await task.value } == .cancelled)
        await transport.close()
    }

    @Test("pulling the cable loses the board")
    func unplugged() async throws {
        let board = try EchoingConsole(run: { $0.hasPrefix("prov-config") ? nil : "" })
        let transport = try transport(board)
        let task = Task { try await transport.exchange([1], on: .config) }
        while !board.typed.contains(where: { $0.hasPrefix("prov-config") }) { await Task.yield() }
        board.terminal.unplug()
        let error = await #expect(throws: BoardError.self) { try await task.value }
        #expect(error?.code == .lost && error?.reason == "port_gone")
        await transport.close()
    }

    @Test("what a line cannot carry is refused before anything is sent")
    func unspeakable() async throws {
        let board = try EchoingConsole(run: Self.run)
        let transport = try transport(board)
        #expect(await code { try await transport.exchange([], on: .config) } == .malformed)
        for name in ["", "two words", "qu\"ote", "cr\r"] {
            #expect(
                await code { try await transport.exchange([1], on: Endpoint(name: Array(name.utf8))) }
                    == .noSuchEndpoint)
        }
        #expect(board.typed.isEmpty)
        await transport.close()
    }
}
