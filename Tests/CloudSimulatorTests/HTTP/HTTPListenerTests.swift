// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct HTTPListenerTests {
    private static func listening(_ body: (UInt16) async throws -> Void) async throws {
        let listener = try HTTPListener(
            address: ListenAddress(host: "127.0.0.1", port: 0),
            refusal: { Response(status: $0, ["message": .string($1)]) },
            handler: { Response(["path": .string($0.path), "bytes": .integer(Int64($0.body.count))]) })
        listener.start()
        defer { listener.stop() }
        try await body(listener.port)
    }

    private static func status(_ text: String?) -> Int? {
        text.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) }
    }

    @Test("a connection carries one request after the other")
    func kept() async throws {
        try await Self.listening { port in
            let connection = try RawConnection(port: port)
            connection.send("GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\nConnection: close\r\n\r\n")
            let text = try #require(connection.readToEnd())
            #expect(text.contains(#"{"path":"/a","bytes":0}"#) && text.contains(#"{"path":"/b","bytes":0}"#))
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("a peer that closes its direction after the request gets its response")
    func halfClosed() async throws {
        try await Self.listening { port in
            let connection = try RawConnection(port: port)
            connection.send("POST /x HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody")
            connection.endSending()
            let text = connection.readToEnd()
            #expect(Self.status(text) == 200)
            #expect(text?.hasSuffix(#"{"path":"/x","bytes":4}"#) == true)
        }
    }

    @Test(
        "one that closes it half-way gets an answer",
        arguments: ["POST /x HTTP/1.1\r\nContent-Length: 4\r\n\r\nbo", "GET", "GET / HTTP/1.1\r\nA: b"])
    func halfRequest(text: String) async throws {
        try await Self.listening { port in
            let connection = try RawConnection(port: port)
            connection.send(text)
            connection.endSending()
            #expect(Self.status(connection.readToEnd()) == 400)
        }
    }

    @Test("too much is refused and the refusal arrives, though the peer still sends")
    func tooLarge() async throws {
        try await Self.listening { port in
            let large = try RawConnection(port: port)
            let count = RequestParser.maximumBody + 1
            large.send(
                Array("POST / HTTP/1.1\r\nContent-Length: \(count)\r\n\r\n".utf8) + Array(repeating: 0x20, count: count)
            )
            #expect(Self.status(large.readToEnd()) == 413)

            let line = try RawConnection(port: port)
            line.send("GET /" + String(repeating: "a", count: RequestParser.maximumHead))
            #expect(Self.status(line.readToEnd()) == 414)

            let full = try RawConnection(port: port)
            let most = RequestParser.maximumBody
            full.send("POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: \(most)\r\n\r\n")
            full.send(Array(repeating: 0x20, count: most))
            #expect(full.readToEnd()?.hasSuffix("\"bytes\":\(most)}") == true)
        }
    }

    @Test(
        "what is not HTTP is refused",
        arguments: ["<html></html>\r\n\r\n", "\u{0}\u{1}\u{2}\n\n", "SSH-2.0-OpenSSH_9.2\r\n\r\n"])
    func notHTTP(text: String) async throws {
        try await Self.listening { port in
            let connection = try RawConnection(port: port)
            connection.send(text)
            #expect(Self.status(connection.readToEnd()) == 400)
        }
    }

    @Test("a hundred connections at once all get their own answer")
    func many() async throws {
        try await Self.listening { port in
            let connections = try (0..<100).map { _ in try RawConnection(port: port) }
            for (index, connection) in connections.enumerated() {
                connection.send("GET /\(index) HTTP/1.1\r\nConnection: close\r\n\r\n")
            }
            for (index, connection) in connections.enumerated() {
                #expect(connection.readToEnd()?.contains("\"/\(index)\"") == true)
            }
        }
    }

    @Test("stopping ends open connections and gives the port back")
    func stop() async throws {
        // One that the kernel deals out to nobody else when it is given back.
        let address = ListenAddress(host: "127.0.0.1", port: UInt16(try LoopbackServer.assignablePort()))
        let listener = try HTTPListener(
            address: address, refusal: { Response(status: $0, .string($1)) }, handler: { _ in Response([:]) })
        listener.start()
        let connection = try RawConnection(port: listener.port)
        connection.send("GET / HTTP/1.1\r\n\r\n")
        #expect(connection.read(atMost: 4096)?.isEmpty == false)
        listener.stop()
        #expect(connection.readToEnd() == "")
        #expect(throws: RawConnectionError.self) { try RawConnection(port: listener.port) }
        let again = try HTTPListener(
            address: ListenAddress(host: "127.0.0.1", port: listener.port),
            refusal: { Response(status: $0, .string($1)) },
            handler: { _ in Response([:]) })
        again.stop()
    }

    @Test("a taken port is an error that says what to try")
    func taken() async throws {
        try await Self.listening { port in
            #expect {
                try ListenAddress(host: "127.0.0.1", port: port).bind()
            } throws: { error in
                let error = error as? SimulatorError
                return error?.code == .unavailable && error?.description.contains("--listen") == true
            }
        }
    }
}
