// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl
import Synchronization
import TestSupport
import Testing

private let responses: [[UInt8]] = [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nSet-Cookie: session=1\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
    "HTTP/1.0 500 Internal Server Error\r\n\r\n<html>", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n",
    "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n",
].map { Array($0.utf8) }

/// What the server answers next.
private final class NextResponse: Sendable {
    let bytes = Mutex<[UInt8]>([])
}

@Suite("HTTP responses, fuzzed")
struct HTTPFuzzTests {
    @Test("any bytes are a response within its bounds, or a typed error")
    func responsesOverSockets() async throws {
        try await withOwnProcessInSoak {
            let next = NextResponse()
            let server = try LoopbackServer(remembersRequests: false) { peer in
                guard peer.readRequest() != nil else { return }
                peer.write(next.bytes.withLock { $0 })
            }
            let client = CurlHTTPClient()
            let report = await fuzz("HTTP response", from: responses, seed: 51) { input in
                next.bytes.withLock { $0 = input }
                let request = HTTPRequest(
                    method: .post, url: server.url, body: [1], maximumResponseBytes: 1000, connection: .fresh)
                do throws(HTTPError) {
                    let response = try await client.send(request)
                    #expect(response.body.count <= 1000)
                } catch {
                    #expect(error.code != .cancelled && error.code != .timeout, "\(error)")
                }
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
