// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

/// Bodies in chunks: RFC 9112, sections 6 and 7.1.
@Suite struct ChunkedBodyTests {
    private static let head = "POST /v1/login2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    /// Chunks with an extension, a size in both cases and with zeros before it, a trailer; and a second request behind it.
    private static let two =
        head
        + "5\r\nhello\r\n00B ; name=\"v\"\r\n, chunks\r\n!\r\n1\r\n!\r\n0\r\nX-Sum: 1\r\n\r\nGET /next HTTP/1.1\r\n\r\n"
    private static let body = Array("hello, chunks\r\n!!".utf8)

    private static func requests(_ parts: [some Sequence<UInt8>]) -> (requests: [Request], last: RequestParser.Step) {
        var parser = RequestParser()
        var requests: [Request] = []
        var step = RequestParser.Step.needsMore
        for part in parts {
            parser.append(part)
            step = parser.next()
            while case .request(let request) = step {
                requests.append(request)
                step = parser.next()
            }
            // A refused request ends the connection.
            if case .refuse = step { break }
        }
        return (requests, step)
    }

    private static func refusal(_ text: String) -> Int? {
        guard case .refuse(let status, _) = requests([Array(text.utf8)]).last else { return nil }
        return status
    }

    @Test("Python's own client and curl send chunks, and are answered")
    func foreignClients() async throws {
        let listener = try HTTPListener(
            address: ListenAddress(host: "127.0.0.1", port: 0),
            refusal: { Response(status: $0, ["message": .string($1)]) },
            handler: { Response(["body": .string(String(decoding: $0.body, as: UTF8.self))]) })
        listener.start()
        defer { listener.stop() }
        // Without a length urllib of Python 3 sends chunks, as it does for OCLC's own library.
        let script = """
            import sys, urllib.request
            request = urllib.request.Request(sys.argv[1], data=iter([b"grant_", b"type=x"]), method="POST")
            print(urllib.request.urlopen(request).read().decode())
            """
        let url = "http://127.0.0.1:\(listener.port)/token"
        let python = try await run("python3", ["-c", script, url])
        #expect(python.standardOutput.contains(#""grant_type=x""#), "\(python.standardError)")
        let curl = try await run(
            "curl", ["-sS", "--max-time", "20", "-H", "Transfer-Encoding: chunked", "-d", "grant_type=x", url])
        #expect(curl.standardOutput.contains(#""grant_type=x""#), "\(curl.standardError)")
    }
}
