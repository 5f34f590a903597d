// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainKit
import RainKitTesting
import TestSupport
import Testing
import RainCore

/// What a renewal can meet on its way, and that nothing but the cloud's own word ends a session.
@Suite("Faults of a renewal")
struct FaultTableTests {
    @Test(
        "each fault ends in its documented error, and what is stored stays as it was unless the cloud refused it",
        arguments: Fault.all)
    func fault(fault: Fault) async throws {
        try await withTemporaryFolder { folder in
            let server = try await FaultyServer.start(fault.onTheWire, in: folder)
            let stored = try await StoredSession(in: folder, at: server, expiresIn: -100)
            let before = try stored.files()

            // In memory.
            let http = ScriptedHTTPClient()
            http.expect(.post, "/v1/login2") { _ throws(HTTPError) in try fault.inMemory.answer() }
            let account = try stored.account(http)
            var error: AccountError?
            do throws(AccountError) {
                _ = try await account.accessToken()
            } catch let thrown {
                error = thrown
            }
            #expect(error.map { "\($0.code)" } == fault.reason)
            #expect(error?.retryAfter == fault.retryAfter.map { .seconds($0) })
            try http.finish()
            if fault.endsSession {
                #expect(try stored.session == nil)
                try await stored.save(Self.session(of: before))
            }
            #expect(try stored.files() == before)

            // As a process, with a real server.
            let outcome = try await stored.maker.rainctl("account", "token", "--json")
            #expect(outcome.status == fault.exit)
            #expect(outcome.failure?["reason"] == .string(fault.reason))
            #expect(outcome.failure?["retry_after"]?.integer == fault.retryAfter)
            #expect(!outcome.standardOutput.contains("planted"))
            #expect(!outcome.standardError.contains("planted"))
            if fault.endsSession {
                #expect(try stored.session == nil)
                let again = try await stored.maker.rainctl("account", "token", "--json")
                #expect(again.status == 77)
                #expect(again.failure?["reason"] == "not_signed_in")
            } else {
                #expect(try stored.files() == before)
            }
        }
    }

    @Test(
        "while the old token lives a fault is no failure: it is used, and what is stored stays as it was",
        arguments: Fault.all.filter { !$0.endsSession })
    func stillAlive(fault: Fault) async throws {
        try await withTemporaryFolder { folder in
            let stored = try await StoredSession(in: folder, at: try await .start(.refuse, in: folder), expiresIn: 50)
            let before = try stored.files()
            let http = ScriptedHTTPClient()
            http.expect(.post, "/v1/login2") { _ throws(HTTPError) in try fault.inMemory.answer() }
            #expect(try await stored.account(http).accessToken() == Secret("planted-access-token"))
            #expect(try stored.files() == before)
            try http.finish()
        }
    }

    @Test("while the old token lives, the process prints it when the cloud is away")
    func stillAliveProcess() async throws {
        try await withTemporaryFolder { folder in
            let stored = try await StoredSession(in: folder, at: try await .start(.refuse, in: folder), expiresIn: 50)
            let outcome = try await stored.maker.rainctl("account", "token")
            #expect(outcome.status == 0)
            #expect(outcome.standardOutput == "planted-access-token\n")
        }
    }

    @Test(
        "a clock that is ten minutes wrong, here or there, makes no token too old or too young",
        arguments: [-600.0, 600], [true, false])
    func clock(serverIsAhead ahead: Double, saysWhenIssued: Bool) async throws {
        try await withTemporaryFolder { folder in
            let server = try FaultyServer.start { _ in
                let now = SystemWallClock().now.seconds.rounded(.down) + ahead
                return Self.renewal(at: now, saysWhenIssued: saysWhenIssued)
            }
            let stored = try await StoredSession(in: folder, at: server, expiresIn: -100)
            for _ in 0..<2 {
                #expect(try await stored.maker.rainctl("account", "token").status == 0)
            }
            #expect(server.server?.seen.count == 1, "the second one found a token that is good for long")
            let session = try #require(try stored.session)
            let left = try #require(session.tokens.expires).seconds - SystemWallClock().now.seconds
            #expect((3500...3602).contains(left))
            #expect(session.tokens.refresh == Secret("planted-refresh-token"))
            #expect(session.tokens.identity == Secret("planted-id-token"))
        }
    }

    private static func renewal(at now: Double, saysWhenIssued: Bool) -> HTTPResponse {
        var claims: [JSONValue.Member] = [.init("exp", .number(now + 3600))]
        if saysWhenIssued { claims.append(.init("iat", .number(now))) }
        let parts = [JSONValue.object([.init("alg", "none")]), .object(claims)].map { base64URL($0.serialized()) }
        let token = parts.joined(separator: ".") + ".c2ln"
        return HTTPResponse(
            status: 200, headers: [HTTPHeader("Date", httpDate(now))],
            body: Array(#"{"status":"success","accesstoken":"\#(token)"}"#.utf8))
    }

    private static func session(of files: [String: some Collection<UInt8>]) throws -> SavedSession {
        let file = try #require(files.first { $0.key.hasSuffix("sim.json") })
        return try SavedSession(serialized: Secret(file.value))
    }
}
