// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import IdentityProviders
@testable import RainAccount

@Suite("Requests to the loopback listener")
struct CallbackRequestParserTests {
    private let whole = Array(
        "GET /callback?code=a%20b&state=s HTTP/1.1\r\nHost:  LOCALHOST:8080 \r\nCookie: a=b\r\nContent-Length: 0\r\n\r\n"
            .utf8)
    private let expected = CallbackRequestParser.Step.request(
        CallbackRequest(
            method: "GET", path: Array("/callback".utf8), query: Array("code=a%20b&state=s".utf8),
            host: "localhost:8080"))

    @Test("a request split anywhere reads the same; no truncation is a request")
    func splits() {
        for cut in 0..<whole.count {
            var parser = CallbackRequestParser()
            parser.append(whole[..<cut])
            #expect(parser.next() == .needsMore, "\(cut)")
            parser.append(whole[cut...])
            #expect(parser.next() == expected, "\(cut)")
        }
        var parser = CallbackRequestParser()
        for byte in whole.dropLast() {
            parser.append([byte])
            #expect(parser.next() == .needsMore)
        }
        parser.append(whole.suffix(1))
        #expect(parser.next() == expected)
    }

    @Test("a POST split anywhere is read with its whole body")
    func body() {
        let whole = Array(
            "POST /callback HTTP/1.1\r\nHost: a:1\r\nOrigin: http://A:1\r\nContent-Length: 11\r\n\r\ncode=a&b=\r\n".utf8
        )
        var expected = CallbackRequest(method: "POST", path: Array("/callback".utf8), query: [], host: "a:1")
        expected.origin = "a:1"
        expected.bodyLength = 11
        expected.body = Array("code=a&b=\r\n".utf8)
        for cut in 0..<whole.count {
            var parser = CallbackRequestParser()
            parser.append(whole[..<cut])
            #expect(parser.next() == .needsMore, "\(cut)")
            parser.append(whole[cut...])
            #expect(parser.next() == .request(expected), "\(cut)")
        }
    }

    @Test("a head without an end is refused at the limit, and not before")
    func bound() {
        var parser = CallbackRequestParser()
        parser.append([UInt8](repeating: UInt8(ascii: "a"), count: CallbackRequestParser.maximumBytes))
        #expect(parser.next() == .needsMore)
        parser.append([0x61])
        #expect(parser.next() == .refused(status: 431))
    }

    @Test("fuzzed: each input is a request, is refused, or needs more; every split has the same result")
    func fuzzed() async throws {
        try await withOwnProcessInSoak {
            let examples = [
                "GET /callback?code=a&state=s HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAccept: */*\r\n\r\n",
                "GET / HTTP/1.0\r\nhost: [::1]:80\r\n\r\n",
                "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
                "POST /x HTTP/1.1\r\nHost: a\r\nOrigin: null\r\nContent-Length: 5\r\n\r\na=b&c",
            ].map { Array($0.utf8) }
            let report = fuzz("callback request", from: examples, seed: 44) { input in
                var parser = CallbackRequestParser()
                parser.append(input)
                let step = parser.next()
                var split = CallbackRequestParser()
                let cut = input.isEmpty ? 0 : Int(input[0]) % input.count
                split.append(input[..<cut])
                if split.next() == .needsMore {
                    split.append(input[cut...])
                    #expect(split.next() == step, "\(hexString(input))")
                }
                if case .request(let request) = step {
                    #expect(request.path.first == UInt8(ascii: "/"))
                    _ = try? AuthorizationResponse(query: request.query)
                }
            }
            #expect(report.failures == [])
        }
    }
}
