// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct FaultTests {
    @Test("a fault hits as many requests of its method and path as it was asked to, and then all is well")
    func count() throws {
        let cloud = try TestCloud()
        let session = try cloud.signIn()
        #expect(
            cloud.faults([["method": "GET", "path": "/v1/user2", "action": "status", "status": 503, "count": 2]]) == 200
        )
        let statuses = (0..<3).map { _ in cloud.send("GET", "/v1/user2", token: session.access).status }
        #expect(statuses == [503, 503, 200])
        #expect(cloud.send("PUT", "/v1/user2", ["name": "A"], token: session.access).status == 200)
        let faulty = try cloud.journal.entries(where: ["event": "request", "fault": "status"])
        #expect(faulty.count == 2)
    }

    @Test("rules are tried in order, a star ends a prefix, and a new list replaces the old")
    func rules() throws {
        let cloud = try TestCloud()
        _ = cloud.faults([
            ["path": "/v1/login2", "action": "status", "status": 429, "count": 1],
            ["path": "/v1/*", "action": "status", "status": 502],
        ])
        let statuses = (0..<2).map { _ in cloud.send("POST", "/v1/login2", [:]).status }
        #expect(statuses == [429, 502])
        #expect(cloud.send("GET", "/v1/user2").status == 502)
        #expect(cloud.send("GET", "/apiversions").status == 200)
        _ = cloud.faults([])
        #expect(cloud.send("POST", "/v1/login2", [:]).errorCode == 101001)
    }

    @Test("too many requests come with the time to wait, and with the cloud's own code")
    func rateLimit() throws {
        let cloud = try TestCloud()
        _ = cloud.faults([
            [
                "path": "/v1/login2", "action": "status", "status": 429, "error_code": 100070, "retry_after": 7,
                "count": 1,
            ],
            ["path": "/v1/login2", "action": "status", "error_code": 101019],
        ])
        let first = cloud.send("POST", "/v1/login2", [:])
        #expect(first.status == 429 && first.errorCode == 100070)
        #expect(first.headers == [.init("Retry-After", "7")])
        let second = cloud.send("POST", "/v1/login2", [:])
        #expect(second.status == 500 && second.errorCode == 101019)
    }

    @Test("a request that meets a fault is not carried out, unless only its answer is to be lost")
    func processed() throws {
        for processed in [false, true] {
            let cloud = try TestCloud { $0.rotatesRefreshTokens = true }
            let session = try cloud.signIn()
            _ = cloud.faults([
                ["path": "/v1/login2", "action": "reset", "count": 1, "processed": .bool(processed)]
            ])
            let body: JSONValue = ["refreshtoken": .string(session.refresh)]
            #expect(cloud.send("POST", "/v1/login2", body).delivery == .reset)
            let again = cloud.send("POST", "/v1/login2", body)
            #expect((again.status == 200) == !processed)
        }
    }

    @Test("on the wire each fault is what it says")
    func wire() throws {
        let cloud = try TestCloud()
        let api = cloud.api
        let listener = try HTTPListener(
            address: ListenAddress(host: "127.0.0.1", port: 0), refusal: { api.refuse(status: $0, reason: $1) },
            handler: { api.respond(to: $0) })
        listener.start()
        defer { listener.stop() }
        func answer(_ action: String) throws -> (text: String?, wasReset: Bool) {
            _ = cloud.faults([["path": "/apiversions", "action": .string(action)]])
            let connection = try RawConnection(port: listener.port)
            connection.send("GET /apiversions HTTP/1.1\r\nConnection: close\r\n\r\n")
            let text = connection.readToEnd()
            return (text, connection.wasReset)
        }
        func body(_ text: String) -> (length: Int, body: Substring) {
            let length = text.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }?.dropFirst(16) ?? ""
            return (Int(length) ?? -1, text[(text.range(of: "\r\n\r\n")?.upperBound ?? text.endIndex)...])
        }

        #expect(try answer("reset") == ("", true))

        let html = try #require(try answer("html").text)
        #expect(html.hasPrefix("HTTP/1.1 200 OK\r\n") && html.contains("Content-Type: text/html"))

        let truncated = try answer("truncate")
        let half = body(try #require(truncated.text))
        #expect(half.length == half.body.utf8.count && !half.body.hasSuffix("}") && half.body.hasPrefix("{"))
        #expect(!truncated.wasReset)

        let cut = try answer("cut")
        let part = body(try #require(cut.text))
        #expect(part.length > part.body.utf8.count && part.body.hasPrefix("{"))
        #expect(cut.wasReset)

        _ = cloud.faults([["path": "/apiversions", "action": "delay", "delay_ms": 300]])
        let late = try RawConnection(port: listener.port)
        let start = ContinuousClock.now
        late.send("GET /apiversions HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(late.readToEnd()?.contains("supported_versions") == true)
        #expect(start.duration(to: .now) >= .milliseconds(300))

        _ = cloud.faults([["path": "/apiversions", "action": "hang"]])
        let connection = try RawConnection(port: listener.port, patience: 200)
        connection.send("GET /apiversions HTTP/1.1\r\n\r\n")
        #expect(connection.read(atMost: 1) == nil, "neither a byte nor an end")
        listener.stop()
        #expect(connection.read(atMost: 1) == [], "stopping ends it")
    }

    @Test("every response says the cloud's time", arguments: [0, 600, -600])
    func date(offset: Int64) throws {
        let cloud = try TestCloud()
        _ = cloud.control("clock", ["offset": .integer(offset)])
        let api = cloud.api
        let listener = try HTTPListener(
            address: ListenAddress(host: "127.0.0.1", port: 0), clock: { api.now },
            refusal: { api.refuse(status: $0, reason: $1) }, handler: { api.respond(to: $0) })
        listener.start()
        defer { listener.stop() }
        // 1700000000 is 14 November 2023, 22:13:20.
        let expected = [0: "22:13:20", 600: "22:23:20", -600: "22:03:20"][offset]!
        for request in ["GET /apiversions HTTP/1.1\r\n\r\n", "nonsense\r\n\r\n"] {
            let connection = try RawConnection(port: listener.port)
            connection.send(request)
            connection.endSending()
            #expect(connection.readToEnd()?.contains("\r\nDate: Tue, 14 Nov 2023 \(expected) GMT\r\n") == true)
        }
    }
}
