// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import firmware_sim

@Suite("Requests as the board's HTTP server reads them")
struct HTTPRequestParserTests {
    private func steps(_ pieces: [[UInt8]]) -> [HTTPRequestParser.Step] {
        var parser = HTTPRequestParser()
        var steps: [HTTPRequestParser.Step] = []
        for piece in pieces {
            parser.append(piece)
            while let step = parser.next() { steps.append(step) }
        }
        return steps
    }

    private func steps(_ text: String) -> [HTTPRequestParser.Step] { steps([Array(text.utf8)]) }

    static let request = Array(
        "POST /prov-config HTTP/1.1\r\nHost: 192.168.4.1\r\ncookie:  session=42 \r\nContent-Length: 4\r\n\r\n\u{08}\u{02}\r\n"
            .utf8)

    static let expected: [HTTPRequestParser.Step] = [
        .head(
            HTTPRequestHead(
                method: Array("POST".utf8), target: Array("/prov-config".utf8), contentLength: 4, isChunked: false,
                cookie: Array("session=42".utf8))),
        .body([8, 2, 13, 10]),
    ]

    @Test("a request reads the same, wherever it is split")
    func everySplit() {
        #expect(steps([Self.request]) == Self.expected)
        for index in 0...Self.request.count {
            #expect(steps([Array(Self.request[..<index]), Array(Self.request[index...])]) == Self.expected)
        }
        #expect(steps(Self.request.map { [$0] }) == Self.expected)
    }

    @Test("a truncated request leads to nothing")
    func everyTruncation() {
        for length in 0..<Self.request.count {
            let steps = steps([Array(Self.request[..<length])])
            #expect(steps == Array(Self.expected.prefix(steps.count)) && steps.count < 2)
        }
    }

    @Test("of two requests in one piece the second is forgotten")
    func pipelined() {
        #expect(steps([Self.request + Self.request]) == Self.expected)
        #expect(steps([Self.request, Self.request]) == Self.expected + Self.expected)
    }

    @Test("the request line has fewer than 512 bytes", arguments: [(495, true), (496, false), (2000, false)])
    func requestLine(length: Int, isAccepted: Bool) {
        let target = "/" + String(repeating: "a", count: length - 1)
        let first = steps("POST \(target) HTTP/1.1\r\nContent-Length: 1\r\n\r\nx").first
        if isAccepted {
            guard case .head(let head)? = first else {
                Issue.record("not accepted: \(String(describing: first))")
                return
            }
            #expect(head.target.count == length)
        } else {
            #expect(first == .refused(.uriTooLong))
        }
    }

    @Test(
        "the headers have fewer than 1024 bytes; exactly 1024 is another error than more",
        arguments: [(1023, nil), (1024, HTTPStatus.internalError), (1025, .headersTooLarge), (5000, .headersTooLarge)]
            as [(Int, HTTPStatus?)])
    func headers(length: Int, refusal: HTTPStatus?) {
        let rest = "Content-Length: 1\r\n\r\n"
        let filler = "X: " + String(repeating: "x", count: length - rest.utf8.count - 5) + "\r\n"
        let request = Array("POST /prov-config HTTP/1.1\r\n\(filler)\(rest)y".utf8)
        for pieces in [[request], request.map { [$0] }] {
            let found = steps(pieces)
            if let refusal { #expect(found == [.refused(refusal)]) } else { #expect(found.count == 2) }
        }
    }

    @Test("of several cookie headers the first counts, even an empty one", arguments: ["session=7", ""])
    func cookies(first: String) {
        let text = "POST /x HTTP/1.1\r\nCookie: \(first)\r\ncookie: session=8\r\n\r\n"
        guard case .head(let head)? = steps(text).first else {
            Issue.record("no head")
            return
        }
        #expect(head.cookie == Array(first.utf8))
    }

    @Test("endless lines without an end are refused before they are", arguments: [511, 512])
    func endlessLine(length: Int) {
        let found = steps("POST /" + String(repeating: "P", count: length - 6))
        #expect(found == (length < 512 ? [] : [.refused(.uriTooLong)]))
    }

    @Test(
        "what is not a request is refused",
        arguments: [
            ("hello\r\n\r\n", HTTPStatus.badRequest), ("post / HTTP/1.1\r\n\r\n", .badRequest),
            ("POST / HTTP/11\r\n\r\n", .badRequest), ("POST / HTTP/1.1 \r\n\r\n", .badRequest),
            ("POST / HTTP/1.1\r\nno colon\r\n\r\n", .badRequest), ("POST / HTTP/1.1\r\nX : y\r\n\r\n", .badRequest),
            ("POST / HTTP/1.1\r\nX: \u{01}\r\n\r\n", .badRequest), ("POST / FTTP/1.1\r\n\r\n", .badRequest),
            // HTTP/0.9, by name and without one; then what is neither 1.0 nor 1.1.
            ("POST / HTTP/0.9\r\n\r\n", .badRequest), ("GET /\r\n\r\n", .versionNotSupported),
            ("POST / HTTP/1.2\r\n\r\n", .versionNotSupported), ("POST / HTTP/2.0\r\n\r\n", .versionNotSupported),
            // An unknown method, an invalid target, and a protocol to which the server cannot upgrade.
            ("BREW / HTTP/1.1\r\n\r\n", .badRequest), ("POST prov-config HTTP/1.1\r\n\r\n", .badRequest),
            ("POST http:///x HTTP/1.1\r\n\r\n", .badRequest), ("POST /\u{7F} HTTP/1.1\r\n\r\n", .badRequest),
            ("CONNECT host:80 HTTP/1.1\r\n\r\n", .badRequest),
            ("GET / HTTP/1.1\r\nUpgrade: h2c\r\nConnection: x, Upgrade\r\n\r\n", .badRequest),
            ("POST / HTTP/1.1\r\nContent-Length: 5e9\r\n\r\n", .badRequest),
            ("POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc", .badRequest),
            ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", .badRequest),
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", .badRequest),
            ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", .badRequest),
            // Seen at once: no line end has come.
            ("\u{16}\u{03}\u{01}\u{02}\u{00}\u{01}\u{00}\u{01}\u{FC}\u{03}\u{03}", .badRequest), ("BRE", .badRequest),
            ("POST /x y", .badRequest),
        ])
    func malformed(text: String, status: HTTPStatus) {
        #expect(steps(text) == [.refused(status)])
    }

    @Test("a chunked body has no length, and lines may end without a carriage return")
    func chunkedAndBareLineFeeds() {
        guard
            case .head(let head)? =
                steps("POST /x HTTP/1.0\nTransfer-Encoding: Chunked\n\nabc").first
        else {
            Issue.record("no head")
            return
        }
        #expect(head.isChunked && head.contentLength == 0)
    }

    @Test(
        "a length is kept in 32 bits, and the head counts once the first byte of the body is there",
        arguments: [(4096, 4096), (5_000_000_000, 705_032_704), (4_294_967_295, 0), (4_294_967_300, 4)])
    func lengths(said: Int, kept: Int) {
        let text = "POST /x HTTP/1.1\r\nContent-Length: \(said)\r\n\r\n"
        #expect(steps(text).isEmpty)
        guard case .head(let head)? = steps(text + "a").first else {
            Issue.record("no head")
            return
        }
        #expect(head.contentLength == kept)
    }

    @Test(
        "the path is found in every form of target, and the line's parts may be far apart",
        arguments: [
            ("POST   /x   HTTP/1.1", "/x"), ("GET /x?a#b HTTP/1.1", "/x"), ("OPTIONS * HTTP/1.1", "*"),
            ("POST http://192.168.4.1:80/prov-config?x HTTP/1.1", "/prov-config"), ("M-SEARCH http://h HTTP/1.1", nil),
            ("POST http://h?/x HTTP/1.1", nil),
        ] as [(String, String?)])
    func targets(line: String, path: String?) {
        let request = Array("\(line)\r\n\r\n".utf8)
        for found in [steps([request]), steps(request.map { [$0] })] {
            guard case .head(let head)? = found.first else {
                Issue.record("\(found)")
                return
            }
            #expect(head.path == path.map { Array($0.utf8) })
        }
    }
}
