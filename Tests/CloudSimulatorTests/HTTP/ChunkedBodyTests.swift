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

    @Test("the body comes out whole, and the request behind it, wherever the bytes are cut")
    func everySplit() {
        let bytes = Array(Self.two.utf8)
        for cut in 0...bytes.count {
            let (requests, last) = Self.requests([bytes[..<cut], bytes[cut...]])
            #expect(requests.map(\.path) == ["/v1/login2", "/next"], "cut at \(cut)")
            #expect(requests.first?.body == Self.body && last == .needsMore, "cut at \(cut)")
            #expect(requests.first?.header("X-Sum") == nil)
        }
        let (requests, _) = Self.requests(bytes.map { [$0] })
        #expect(requests.map(\.body) == [Self.body, []])
    }

    @Test("one that is cut short is never taken for a whole one")
    func everyTruncation() {
        let bytes = Array(Self.two.utf8)
        let end = bytes.count - "GET /next HTTP/1.1\r\n\r\n".utf8.count
        for length in 0..<end {
            let (requests, last) = Self.requests([bytes[..<length]])
            #expect(requests.isEmpty && last == .needsMore, "\(length)")
        }
    }

    @Test(
        "what two readers could take for two different bodies is refused",
        arguments: [
            "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 0",
        ])
    func both(headers: String) {
        #expect(Self.refusal("POST / HTTP/1.1\r\n\(headers)\r\n\r\n0\r\n\r\n") == 400)
    }

    @Test(
        "codings that are not known here, and chunks of HTTP/1.0, are refused",
        arguments: [
            ("gzip, chunked", "1.1", 501), ("chunked, chunked", "1.1", 501), ("identity", "1.1", 501), ("", "1.1", 501),
            ("chunked\r\nTransfer-Encoding: chunked", "1.1", 501), ("xchunked", "1.1", 501), ("chunked", "1.0", 400),
        ])
    func coding(value: String, version: String, status: Int) {
        #expect(
            Self.refusal("POST / HTTP/\(version)\r\nTransfer-Encoding: \(value)\r\n\r\n0\r\n\r\n") == status)
    }

    @Test("the coding's name is compared without regard to case")
    func spelling() {
        let text = "POST / HTTP/1.1\r\ntransfer-encoding:  Chunked \r\n\r\n0\r\n\r\n"
        #expect(Self.requests([Array(text.utf8)]).requests.map(\.body) == [[]])
    }

    @Test(
        "an invalid chunk is refused",
        arguments: [
            "\r\n", "x\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 x\r\n", "1\na", "5\r\nhello!\r\n",
            "5\r\nhelloX\n",
            "000000001\r\n", "1;\u{7F}\r\n", "0\r\nno colon\r\n", "0\r\n: empty\r\n", "1\r\na\n",
            "0;" + String(repeating: "e", count: ChunkedBody.maximumLine),
            "0\r\nA: " + String(repeating: "t", count: ChunkedBody.maximumLine),
        ])
    func malformed(chunks: String) { #expect(Self.refusal(Self.head + chunks) == 400) }

    @Test("a body has a limit, and so has its framing")
    func bounds() {
        #expect(Self.refusal(Self.head + "FFFFFFFF\r\n") == 413)
        let most = String(RequestParser.maximumBody, radix: 16)
        #expect(Self.refusal(Self.head + most + "\r\n") == nil)
        #expect(Self.refusal(Self.head + String(RequestParser.maximumBody + 1, radix: 16) + "\r\n") == 413)
        let full = Self.head + most + "\r\n" + String(repeating: " ", count: RequestParser.maximumBody) + "\r\n"
        #expect(Self.refusal(full + "1\r\n") == 413)
        #expect(Self.requests([Array((full + "0\r\n\r\n").utf8)]).requests.count == 1)
        let extensions = "1;" + String(repeating: "e", count: 900) + "\r\na\r\n"
        #expect(Self.refusal(Self.head + String(repeating: extensions, count: 80)) == 400)
        #expect(Self.refusal(Self.head + "0\r\n" + String(repeating: "A: b\r\n", count: 11_000)) == 400)
    }

    @Test("mutants of chunked bodies crash nothing and grow nothing")
    func fuzzed() async throws {
        try await withOwnProcessInSoak {
            typealias Tests = ChunkedBodyTests
            let texts = [Tests.two, Tests.head + "1\r\na\r\n0\r\n\r\n", Tests.head + "0\r\nA: b\r\n\r\n"]
            let report = fuzz("chunks", from: texts.map { Array($0.utf8) }, seed: 26) { input in
                // However a mutant is cut, it means the same.
                let half = input.count / 2
                let whole = Tests.requests([input]).requests
                let halves = Tests.requests([input.prefix(half), input.dropFirst(half)]).requests
                #expect(whole == halves)
                #expect(whole.allSatisfy { $0.body.count <= RequestParser.maximumBody })
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
