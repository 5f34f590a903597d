// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import ProtocommTransports
import RainHTTP
import RainHTTPCurl
import RainKitTesting
import TestSupport
import Testing

/// Web servers at the address where a board is looked for.
@Suite("A web server that is not a board", .timeLimit(.minutes(10)))
struct OtherWebServerTests {
    private static let page = "<html><title>Router</title></html>"
    static let answers = [
        ("200 OK", ""), ("200 OK", page), ("200 OK", "\r\n<!DOCTYPE html>"), ("404 Not Found", page),
        ("404 Not Found", #"{"error":"no"}"#),
        ("302 Found", page), ("301 Moved Permanently", ""), ("307 Temporary Redirect", ""), ("400 Bad Request", page),
        ("401 Unauthorized", page), ("403 Forbidden", ""), ("405 Method Not Allowed", "method not allowed"),
        ("500 Internal Server Error", ""), ("501 Not Implemented", ""), ("503 Service Unavailable", page),
        ("411 Length Required", ""), ("418 I'm a teapot", ""),
    ]

    private func error(
        _ names: HTTPEndpointNames, _ serve: @escaping @Sendable (LoopbackPeer) -> Void
    ) async throws -> (error: BoardError?, requests: Int) {
        let server = try LoopbackServer { peer in
            guard peer.readRequest() != nil else { return }
            serve(peer)
        }
        let transport = SoftAPTransport(
            http: CurlHTTPClient(), host: "127.0.0.1", port: server.port, names: names)
        let error = await #expect(throws: BoardError.self) {
            try await transport.exchange(Array("---".utf8), on: .version)
        }
        await transport.close()
        return (error, server.seen.count)
    }

    @Test("is named as one at the first request", arguments: answers)
    func answered(status: String, body: String) async throws {
        for names in [HTTPEndpointNames.provisioning, .localControl] {
            let (error, requests) = try await error(names) { peer in
                peer.respond(status, headers: ["Location: https://192.168.4.1/login", "Content-Type: text/html"], body)
            }
            #expect(error?.code == .unreachable && error?.reason == "not_a_board", "\(String(describing: error))")
            #expect(error?.message.contains("is not a board") == true)
            #expect(requests == 1)
        }
    }

    @Test(
        "so is one that speaks another protocol",
        arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "220 ftp ready\r\n", "\0\0\0\0\r\n"])
    func other(text: String) async throws {
        let (error, _) = try await error(.provisioning) { $0.write(text) }
        #expect(error?.reason == "not_a_board", "\(String(describing: error))")
        #expect(error?.message.contains("is not a board: it") == true && error?.message.contains("HTTP") == true)
        #expect(error?.message.contains("Unsupported protocol") == false, "\(error?.message ?? "")")
    }

    @Test("so is one whose answer is longer than a board's")
    func endless() async throws {
        let (error, _) = try await error(.provisioning) { peer in
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        }
        #expect(error?.reason == "not_a_board", "\(String(describing: error))")
        #expect(error?.message.contains("its answer is too long (more than ") == true, "\(error?.message ?? "")")
    }

    @Test("one that closes the connection without a byte may not be a board", arguments: [true, false])
    func closes(readsFirst: Bool) async throws {
        let server = try LoopbackServer { peer in
            if readsFirst { _ = peer.readRequest() }
        }
        let transport = SoftAPTransport(http: CurlHTTPClient(), host: "127.0.0.1", port: server.port)
        let error = await #expect(throws: BoardError.self) {
            try await transport.exchange(Array("---".utf8), on: .version)
        }
        await transport.close()
        #expect(
            error?.message
                == "The server at 127.0.0.1:\(server.port) closed the connection without an answer; it may not be a board."
        )
        #expect(error?.code == .evicted)
    }

    @Test("a board on its network without that service is not mistaken for one")
    func boardWithoutService() async throws {
        let (error, _) = try await error(.localControl) {
            $0.respond("404 Not Found", "Nothing matches the given URI")
        }
        #expect(error?.code == .noSuchEndpoint && error?.reason == nil)
        #expect(error?.message.contains("does not offer RainMaker's service on the network") == true)
    }

    @Test("nor is one that waits for its network")
    func boardInProvisioning() async throws {
        let server = try LoopbackServer { peer in
            guard let request = peer.readRequest() else { return }
            if "\(request)".contains("/proto-ver") {
                peer.respond("200 OK", #"{"prov":{"ver":"v1.1"}}"#)
            } else {
                peer.respond("404 Not Found", "Nothing matches the given URI")
            }
        }
        let transport = SoftAPTransport(
            http: CurlHTTPClient(), host: "127.0.0.1", port: server.port, names: .localControl)
        let error = await #expect(throws: BoardError.self) {
            try await transport.exchange(Array("---".utf8), on: .version)
        }
        await transport.close()
        #expect(error?.code == .noSuchEndpoint)
        #expect(error?.message.contains("is not on a network yet") == true, "\(error?.message ?? "")")
    }

    @Test("a name that is not found, and an address without a route, are in the message")
    func named() async throws {
        for (host, error) in [
            (
                "nobody.invalid",
                HTTPError(.unresolved, host: "nobody.invalid:80", message: "the name nobody.invalid is not known")
            ),
            ("192.0.2.1", HTTPError(.unreachable, host: "192.0.2.1:80", message: "no machine answers at its address")),
        ] {
            let http = ScriptedHTTPClient()
            http.expect(.post, "/proto-ver") { _ throws(HTTPError) in throw error }
            let transport = SoftAPTransport(http: http, host: host)
            let thrown = await #expect(throws: BoardError.self) {
                try await transport.exchange(Array("---".utf8), on: .version)
            }
            #expect(thrown?.message.hasPrefix("No connection to \(host):80: ") == true, "\(thrown as Any)")
        }
    }

    /// Has begun an answer when it is cancelled.
    private struct HalfAnswer: HTTPClient {
        func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            let (never, end) = AsyncStream.makeStream(of: Never.self)
            for await _ in never {}
            end.finish()
            throw HTTPError(.cancelled, host: "127.0.0.1", message: "cancelled", receivedBytes: true)
        }

        func close(kept name: String) async {}
    }

    @Test("one that begins an answer and does not finish it is reported as such")
    func cutAnswer() async throws {
        let clock = ManualClock()
        let session = ProtocommSession(
            transport: SoftAPTransport(http: HalfAnswer(), host: "127.0.0.1"), clock: clock)
        let error = await #expect(throws: BoardError.self) {
            try await clock.run { try await session.versionInfo() }
        }
        #expect(error?.code == .neverAnswered)
        #expect(
            error?.message.hasPrefix("The server at 127.0.0.1:80 began an answer and did not finish it.") == true,
            "\(error?.message ?? "")")
    }
}
