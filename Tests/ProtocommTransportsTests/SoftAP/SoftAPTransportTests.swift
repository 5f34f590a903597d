// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import ProtocommTransports
import RainHTTPCurl
import RainKitTesting
import TestSupport
import Testing

@Suite("protocomm over HTTP", .timeLimit(.minutes(10)))
struct SoftAPTransportTests {
    let http = CurlHTTPClient()

    func transport(_ board: QuirkyBoard) -> SoftAPTransport {
        SoftAPTransport(http: http, host: "127.0.0.1", port: board.server.port)
    }

    func code(_ body: () async throws -> [UInt8]) async -> BoardError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? BoardError)?.code
        }
    }

    @Test("keeps the promises of every transport", arguments: [QuirkyBoard.Cookies.on, .off])
    func conformance(cookies: QuirkyBoard.Cookies) async throws {
        let board = try QuirkyBoard(cookies: cookies) { request in
            switch TransportConformance.Board.reply(to: request) {
            case .answer(let bytes): .answer(bytes)
            case .refuse: .refuse
            case .silence: .silence
            }
        }
        try await TransportConformance.check { transport(board) }
    }

    @Test("the cookie of the first answer comes with every later request, each on its own connection")
    func cookie() async throws {
        let board = try QuirkyBoard { .answer($0) }
        let transport = transport(board)
        for number in 1...5 { #expect(try await transport.exchange([UInt8(number)], on: .config) == [UInt8(number)]) }
        let cookies = board.server.seen.map { $0.header("Cookie") }
        #expect(cookies == [nil] + [String?](repeating: "session=1001", count: 4))
        #expect(board.server.connections == 5)
        let request = try #require(board.server.seen.last)
        #expect(request.requestLine == "POST /prov-config HTTP/1.1")
        #expect(request.header("Content-Type") == "application/x-www-form-urlencoded")
        #expect(request.header("Content-Length") == "1")
        #expect(request.header("Expect") == nil)
        await transport.close()
    }

    @Test("a board without cookies keeps its one connection")
    func noCookies() async throws {
        let board = try QuirkyBoard(cookies: .off) { .answer($0) }
        let transport = transport(board)
        for number in 1...5 { #expect(try await transport.exchange([UInt8(number)], on: .config) == [UInt8(number)]) }
        #expect(board.server.connections == 1)
        #expect(board.server.seen.allSatisfy { $0.header("Cookie") == nil })
        await transport.close()
    }

    @Test("when the board opens another session, its new cookie counts")
    func newSession() async throws {
        let board = try QuirkyBoard { .answer($0) }
        let transport = transport(board)
        _ = try await transport.exchange([1], on: .config)
        let intruder = self.transport(board)
        _ = try await intruder.exchange([2], on: .config)
        _ = try await transport.exchange([3], on: .config)
        _ = try await transport.exchange([4], on: .config)
        #expect(
            board.server.seen.map { $0.header("Cookie") } == [nil, nil, "session=1001", "session=1003"])
        await transport.close()
    }

    @Test("a refused request is sent once, whatever the connection", arguments: [QuirkyBoard.Cookies.on, .off])
    func sentOnce(cookies: QuirkyBoard.Cookies) async throws {
        let board = try QuirkyBoard(cookies: cookies) { $0 == [0xEE] ? .refuse : .answer($0) }
        let transport = transport(board)
        for _ in 0..<3 {
            _ = try await transport.exchange([1], on: .config)
            #expect(await code { try await transport.exchange([0xEE], on: .config) } == .refused)
        }
        let versions = board.server.seen.filter { $0.requestLine.contains("proto-ver") }
        #expect(versions.count == (cookies == .on ? 6 : 0), "a client with a cookie asks whether it is still valid")
        let asked = board.server.seen.filter { !$0.requestLine.contains("proto-ver") }
        #expect(asked.map(\.body) == [[1], [0xEE], [1], [0xEE], [1], [0xEE]])
        await transport.close()
    }

    @Test("a connection that closes once another client has taken the session is no refusal")
    func sessionTaken() async throws {
        let board = try QuirkyBoard { $0 == [0xEE] ? .refuse : .answer($0) }
        let transport = transport(board)
        let intruder = self.transport(board)
        _ = try await transport.exchange([1], on: .config)
        #expect(await failure { try await transport.exchange([0xEE], on: .config) }?.code == .refused)
        _ = try await intruder.exchange([2], on: .config)
        let taken = await failure { try await transport.exchange([0xEE], on: .config) }
        #expect(taken?.code == .evicted)
        #expect(taken?.reason == "session_taken")
        // It has its new session from the answer, and goes on in it.
        #expect(await failure { try await transport.exchange([0xEE], on: .config) }?.code == .refused)
        #expect(await failure { try await intruder.exchange([0xEE], on: .config) }?.code == .evicted)
        await transport.close()
        await intruder.close()
    }

    @Test("a connection that is reset in the session's lifetime was pushed out")
    func connectionTaken() async throws {
        let board = try QuirkyBoard { $0 == [0xEE] ? .reset : .answer($0) }
        let transport = transport(board)
        _ = try await transport.exchange([1], on: .config)
        let taken = await failure { try await transport.exchange([0xEE], on: .config) }
        #expect(taken?.code == .evicted)
        #expect(taken?.reason == "connection_taken")
        await transport.close()
    }

    private func failure(_ body: () async throws -> [UInt8]) async -> BoardError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? BoardError
        }
    }

    @Test("a missing endpoint is distinguished from a refusal")
    func noSuchEndpoint() async throws {
        let board = try QuirkyBoard { .answer($0) }
        let transport = transport(board)
        #expect(await code { try await transport.exchange([1], on: .control) } == .noSuchEndpoint)
        #expect(try await transport.exchange([1], on: .config) == [1])
        await transport.close()
    }

    @Test(
        "what is not a board's answer is malformed, or lost half way",
        arguments: [
            ("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n", BoardError.Code.malformed),
            ("HTTP/1.1 302 Found\r\nLocation: http://captive.portal/\r\nContent-Length: 0\r\n\r\n", .malformed),
            ("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\nsorry", .malformed),
            ("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", .malformed),
            ("SSH-2.0-OpenSSH_9.2\r\n", .malformed),
            ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", .lost),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .refused),
        ])
    func malformed(answer: String, expected: BoardError.Code) async throws {
        let board = try QuirkyBoard { _ in .raw(answer) }
        let transport = transport(board)
        #expect(await code { try await transport.exchange([1], on: .config) } == expected)
        await transport.close()
    }

    @Test("a board that has answered before is named with the HTTP status and the endpoint")
    func status() async throws {
        let board = try QuirkyBoard { request in
            request == [1]
                ? .answer([1]) : .raw("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
        }
        let transport = transport(board)
        let first = await failure { try await transport.exchange([2], on: .config) }
        #expect(first?.message.hasPrefix("The server at 127.0.0.1") == true && first?.faultyAnswer == nil)
        #expect(try await transport.exchange([1], on: .config) == [1])
        let later = await failure { try await transport.exchange([2], on: .config) }
        #expect(later?.code == .malformed && later?.faultyAnswer == "HTTP status 500")
        #expect(
            later?.message.hasPrefix("The board answered with HTTP status 500 at its endpoint prov-config.") == true)
        await transport.close()
    }

    @Test("where nobody listens, nothing was sent")
    func unreachable() async throws {
        let transport = SoftAPTransport(http: http, host: "127.0.0.1", port: try LoopbackServer.refusedPort())
        #expect(await code { try await transport.exchange([1], on: .version) } == .unreachable)
        await transport.close()
    }

    @Test("what cannot be sent is refused without a connection")
    func unspeakable() async throws {
        let board = try QuirkyBoard { .answer($0) }
        let transport = transport(board)
        #expect(await code { try await transport.exchange([], on: .config) } == .malformed)
        for name in ["", "two words", "a?b", "a#b", "%2e", "a\r\nb", "ä"] {
            #expect(
                await code { try await transport.exchange([1], on: Endpoint(name: Array(name.utf8))) }
                    == .noSuchEndpoint)
        }
        #expect(board.server.connections == 0)
        await transport.close()
    }
}
