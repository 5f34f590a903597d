// SPDX-License-Identifier: Apache-2.0
import Logging
import RainHTTP
import RainKitTesting
import TestSupport
import Testing

@testable import RainKit

/// Answers each request, or fails.
private struct FixedAnswer: HTTPClient {
    let isTimeout: Bool

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        if isTimeout { throw HTTPError(.timeout, host: "api.example.com", message: "no answer for planted-token") }
        return HTTPResponse(
            status: 201, headers: [HTTPHeader("Date", "today"), HTTPHeader("Set-Cookie", "planted-cookie")],
            body: Array("planted-answer".utf8))
    }
}

@Suite("The log of HTTP exchanges")
struct HTTPLogTests {
    private static func logger(_ log: CapturedLog, at level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { _ in log.handler }
        logger.logLevel = level
        return logger
    }

    /// Sends one request with secrets in every place, and returns the lines of the log.
    private static func lines(at level: Logger.Level, answered: Bool = true) async throws -> (String, [Logger.Level]) {
        let log = CapturedLog()
        let request = HTTPRequest(
            method: .post,
            url:
                "https://user:planted-login@api.example.com/v1/user/nodes;sid=planted-path?node_id=N1&key=planted-query"
                + "&planted-flag#planted-fragment",
            headers: [HTTPHeader("Authorization", "planted-token"), HTTPHeader("Accept", "text/plain")],
            body: Array(#"{"password":"planted-password"}"#.utf8))
        _ = try? await LoggedHTTPClient(FixedAnswer(isTimeout: !answered), logger(log, at: level)).send(request)
        return (log.text, log.levels)
    }

    @Test("a line has the method, the address, the status, the sizes and the time")
    func line() async throws {
        let (text, levels) = try await Self.lines(at: .debug)
        #expect(levels == [.debug])
        for part in [
            "HTTP response", #""method": POST"#, #""status": 201"#, #""bytes": 14"#, #""sent": 31"#, #""ms": "#,
            "https://…@api.example.com/v1/user/nodes?node_id=N1&key=…&…",
        ] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test("at trace, the request and both headers have lines, too")
    func headers() async throws {
        let (text, levels) = try await Self.lines(at: .trace)
        #expect(levels == [.trace, .debug, .trace])
        for part in ["Accept: text/plain", "Authorization: …", "Date: today", "Set-Cookie: …"] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test("a failure has its kind and its time")
    func failure() async throws {
        let (text, _) = try await Self.lines(at: .debug, answered: false)
        #expect(text.contains("HTTP request failed") && text.contains(#""cause": timeout"#), "\(text)")
    }

    @Test("no secret of a request or an answer is logged", arguments: [true, false])
    func secrets(answered: Bool) async throws {
        let (text, _) = try await Self.lines(at: .trace, answered: answered)
        #expect(!text.contains("planted"), "\(text)")
    }

    @Test("nothing is logged below debug")
    func silence() async throws {
        #expect(try await Self.lines(at: .info).1.isEmpty)
    }

    @Test("a repeated request is counted")
    func attempts() async throws {
        let (log, script) = (CapturedLog(), ScriptedHTTPClient())
        script.expect(.get, "/") { _ in
            var response = HTTPResponse(status: 200)
            response.attempts = 2
            return response
        }
        _ = try await LoggedHTTPClient(script, Self.logger(log, at: .debug)).send(
            HTTPRequest(method: .get, url: "https://example.com/"))
        #expect(log.text.contains(#""attempts": 2"#))
    }

    @Test("a client logs each exchange once, also with the configuration of another client")
    func once() async throws {
        let (log, script) = (CapturedLog(), ScriptedHTTPClient())
        script.expect(.get, "/", "{}")
        var configuration = RainKitConfiguration.inMemory(logger: Self.logger(log, at: .debug))
        configuration.tools.http = { _ in script }
        let client = RainKitClient(RainKitClient(configuration).configuration)
        _ = try await client.configuration.tools.http(nil).send(HTTPRequest(method: .get, url: "https://example.com/"))
        #expect(log.levels == [.debug])
    }
}
