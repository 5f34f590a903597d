// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CloudSimulator

@Suite struct RequestParserTests {
    private static let two = """
        POST /v1/login2?a=b%20c&&d HTTP/1.1\r
        Host: 127.0.0.1\r
        content-length: 5\r
        \r
        helloGET /apiversions HTTP/1.1\r
        Connection: close\r
        \r

        """

    private static let expected = [
        Request(
            method: "POST", target: "/v1/login2?a=b%20c&&d",
            headers: [.init("Host", "127.0.0.1"), .init("content-length", "5")], body: Array("hello".utf8)),
        Request(
            method: "GET", target: "/apiversions", headers: [.init("Connection", "close")], keepsConnection: false),
    ]

    @Test("two requests come out whole, wherever the bytes are cut")
    func everySplit() {
        let bytes = Array(Self.two.utf8)
        for cut in 0...bytes.count {
            var parser = RequestParser()
            var requests: [Request] = []
            for part in [bytes[..<cut], bytes[cut...]] {
                parser.append(part)
                while case .request(let request) = parser.next() { requests.append(request) }
            }
            #expect(requests == Self.expected, "cut at \(cut)")
            #expect(!parser.isWithinRequest)
        }
    }

    @Test("byte by byte is the same")
    func byteByByte() {
        var parser = RequestParser()
        var requests: [Request] = []
        for byte in Self.two.utf8 {
            parser.append([byte])
            if case .request(let request) = parser.next() { requests.append(request) }
        }
        #expect(requests == Self.expected)
    }

    @Test("a request cut short is never taken for a whole one")
    func everyTruncation() {
        let bytes = Array("PUT /x HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody".utf8)
        for length in 0..<bytes.count {
            var parser = RequestParser()
            parser.append(bytes[..<length])
            #expect(parser.next() == .needsMore)
            #expect(parser.isWithinRequest == (length > 0))
        }
    }

    @Test("the query is decoded, empty parts are skipped, a stray percent sign stands for itself")
    func query() {
        let request = Request(method: "GET", target: "/p?&request_id=a%2Bb+c&x=%zz&y=100%&z")
        #expect(request.path == "/p")
        #expect(
            request.query == [.init("request_id", "a+b c"), .init("x", "%zz"), .init("y", "100%"), .init("z", "")])
        #expect(request.query("z") == nil)
        #expect(request.query("nodeid", "x") == "%zz")
    }

    @Test(
        "what is not HTTP is refused with the status that says why",
        arguments: [
            ("GET\r\n\r\n", 400), ("GET /\r\n\r\n", 400), ("GET  / HTTP/1.1\r\n\r\n", 400),
            ("G=T / HTTP/1.1\r\n\r\n", 400),
            ("GET x HTTP/1.1\r\n\r\n", 400), ("GET /\u{7F} HTTP/1.1\r\n\r\n", 400), ("<html>\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\n\r\n", 505), ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\n: empty\r\n\r\n", 400), ("GET / HTTP/1.1\r\nA B: c\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nContent-Length: \r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nContent-Length: \(RequestParser.maximumBody + 1)\r\n\r\n", 413),
            ("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413),
            ("GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        ])
    func refused(text: String, status: Int) {
        var parser = RequestParser()
        parser.append(text.utf8)
        guard case .refuse(let actual, _) = parser.next() else { return #expect(Bool(false), "accepted: \(text)") }
        #expect(actual == status)
    }

    @Test("a request line and headers without end are refused before they fill the memory")
    func bounds() {
        var line = RequestParser()
        line.append(Array(repeating: UInt8(ascii: "A"), count: RequestParser.maximumLine - 1))
        #expect(line.next() == .needsMore)
        line.append("A".utf8)
        guard case .refuse(414, _) = line.next() else { return #expect(Bool(false)) }

        var headers = RequestParser()
        headers.append("GET / HTTP/1.1\r\n".utf8)
        while headers.next() == .needsMore { headers.append("X-Filler: 0123456789\r\n".utf8) }
        guard case .refuse(431, _) = headers.next() else { return #expect(Bool(false)) }
    }

    @Test("HTTP/1.0 closes unless it is asked not to, HTTP/1.1 the other way round")
    func connection() {
        for (text, keeps) in [
            ("GET / HTTP/1.0\n\n", false), ("GET / HTTP/1.0\nConnection: Keep-Alive\n\n", true),
            ("GET / HTTP/1.1\n\n", true), ("GET / HTTP/1.1\nconnection: Close\n\n", false),
        ] {
            var parser = RequestParser()
            parser.append(text.utf8)
            guard case .request(let request) = parser.next() else { return #expect(Bool(false), "\(text)") }
            #expect(request.keepsConnection == keeps, "\(text)")
        }
    }
}
