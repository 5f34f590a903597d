// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import TestSupport
import Testing

@Suite("Tokens that do not get lost")
struct TokenKeeperTests {
    @Test("a hundred calls on an expired token renew it once, and a caller that leaves disturbs nobody")
    func hundred() async throws {
        let bench = try Bench(savedSession("a", life: 1))
        bench.clock.advance(seconds: 10)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let renewal = bench.renewal("b")
        bench.http.expect(.post, "/v1/login2") { _ in
            start.finish()
            for await _ in gate {}
            return HTTPResponse(status: 200, body: Array(renewal.utf8))
        }
        for _ in 0..<50 { bench.http.expect(.get, "/v1/user/nodes", "{}") }
        let calls = (0..<100).map { _ in
            Task { await accountError { () throws(AccountError) in try await bench.session.send(bench.request) } }
        }
        for await _ in started {}
        for task in calls.suffix(50) { task.cancel() }
        for task in calls.suffix(50) {
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(error?.unfinished?.hasSuffix("has not answered the renewal of the session") == true)
        }
        opener.finish()
        for task in calls.prefix(50) { #expect(await task.value == nil) }
        #expect(bench.http.requests.count { $0.method == .post } == 1)
        try bench.http.finish()
    }

    // MARK: The end of a session

    @Test(
        "a refused token that is no longer the stored one ends nothing: the stored one is used",
        arguments: [true, false])
    func refusedButReplaced(isFresh: Bool) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("sessions")
            let bench = try Bench(store: FileCredentialStore(folder: path))
            try await save(savedSession("a", life: 1), bench)
            bench.clock.advance(seconds: 10)
            // A program that ignores the lock, such as a restored backup, replaces the file while the provider refuses.
            let meanwhile = savedSession("m", received: bench.clock.now.seconds, life: isFresh ? 3600 : 0)
            bench.http.expect(.post, "/v1/login2") { _ in
                replaceFile("\(path)/sim.json", meanwhile.serialized.revealBytes())
                return HTTPResponse(status: 400, body: Array(#"{"status":"failure","error_code":101017}"#.utf8))
            }
            if !isFresh {
                let renewal = bench.renewal("b")
                bench.http.expect(.post, "/v1/login2") { request in
                    #expect(request.json == ["refreshtoken": "planted-refresh-m"])
                    return HTTPResponse(status: 200, body: Array(renewal.utf8))
                }
            }
            bench.http.expect(.get, "/v1/user/nodes", "{}")
            #expect(try await bench.session.send(bench.request).status == 200)
            #expect(try await bench.stored() != nil)
            try bench.http.finish()
        }
    }

    @Test("refusals of two replaced sessions do not end the third")
    func neverTheStoredOne() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("sessions")
            let bench = try Bench(store: FileCredentialStore(folder: path))
            try await save(savedSession("a", life: 1), bench)
            bench.clock.advance(seconds: 10)
            for name in ["m", "n"] {
                bench.http.expect(.post, "/v1/login2") { _ in
                    replaceFile("\(path)/sim.json", savedSession(name, life: 1).serialized.revealBytes())
                    return HTTPResponse(status: 400, body: Array(#"{"status":"failure","error_code":101017}"#.utf8))
                }
            }
            let error = await accountError { () throws(AccountError) in try await bench.session.accessToken() }
            #expect(error?.code == .rejected)
            #expect(try await bench.stored() == savedSession("n", life: 1))
            try bench.http.finish()
        }
    }

    @Test("a token that is rejected right after its renewal is renewed again")
    func rejectedWhatJustCame() async throws {
        let bench = try Bench(savedSession("a", life: 1))
        bench.clock.advance(seconds: 10)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let renewal = bench.renewal("b")
        bench.http.expect(.post, "/v1/login2") { _ in
            start.finish()
            for await _ in gate {}
            return HTTPResponse(status: 200, body: Array(renewal.utf8))
        }
        let first = Task { try await bench.session.accessToken() }
        for await _ in started {}
        opener.finish()
        _ = try await first.value
        bench.http.expect(.get, "/v1/user/nodes", status: 401, "{}")
        bench.expectRenewal(to: "c")
        bench.http.expect(.get, "/v1/user/nodes", "{}")
        #expect(try await bench.session.send(bench.request).status == 200)
        try bench.http.finish()
    }

    @Test("without a refresh token the access token is used until it expires")
    func lastMinute() async throws {
        var saved = savedSession("a")
        saved.tokens.refresh = nil
        let bench = try Bench(saved)
        bench.clock.advance(seconds: 3599)
        #expect(try await bench.session.accessToken() == saved.tokens.access)
        bench.clock.advance(seconds: 1)
        #expect(
            await accountError { () throws(AccountError) in try await bench.session.accessToken() }?.code == .expired)
    }

    // MARK: Signing out

    @Test("no caller can renew, and so restore, a session during its sign-out")
    func signOutAlone() async throws {
        let bench = try Bench(savedSession("a"))
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        bench.http.expect(.post, "/v1/logout2?logout_all=false") { _ in
            start.finish()
            for await _ in gate {}
            return HTTPResponse(status: 200, body: Array(#"{"status":"success"}"#.utf8))
        }
        let signOut = Task { try await bench.session.signOut() }
        for await _ in started {}
        let other = try AccountSession.rainMaker(
            bench.deployment, http: bench.http, store: bench.store, clock: bench.clock, timer: ManualClock())
        let renewal = Task { await accountError { () throws(AccountError) in try await other.renew() } }
        opener.finish()
        guard case .complete = try await signOut.value else {
            Issue.record("the sign-out is not complete")
            return
        }
        #expect(await renewal.value?.code == .notSignedIn)
        #expect(try await bench.stored() == nil)
        try bench.http.finish()
    }

    @Test("an access token that is rejected at the sign-out is renewed first, so that the refresh token is revoked")
    func signOutRejected() async throws {
        let bench = try Bench(savedSession("a"))
        bench.http.expect(.post, "/v1/logout2?logout_all=false", status: 401, #"{"message":"Unauthorized"}"#)
        bench.expectRenewal(to: "b")
        bench.http.expect(.post, "/v1/logout2?logout_all=false", #"{"status":"success"}"#)
        guard case .complete = try await bench.session.signOut() else {
            Issue.record("the sign-out is not complete")
            return
        }
        #expect(bench.http.requests.last?.json == ["refreshtoken": "planted-refresh-a"])
        #expect(try await bench.stored() == nil)
        try bench.http.finish()
    }

    // MARK: Tokens that the store cannot save

    @Test("a renewal that the store could not save does not overwrite a later session")
    func unsavedAndOvertaken() async throws {
        let store = FullStore(session: savedSession("a", life: 1), fails: { $0 == .save })
        let bench = try Bench(store: store)
        bench.clock.advance(seconds: 10)
        bench.expectRenewal(to: "b")
        #expect(
            await accountError { () throws(AccountError) in try await bench.session.accessToken() }?.code
                == .cannotStore)
        store.failures = { _ in false }
        let newer = savedSession("c", received: bench.clock.now.seconds)
        try await save(newer, bench)
        #expect(try await bench.session.accessToken() == newer.tokens.access)
        #expect(try await bench.stored() == newer)
        try bench.http.finish()
    }

    // MARK: The server's clock

    @Test("a token without a time of issue expires by the server's clock", arguments: [-600.0, 0, 600])
    func skew(ahead: Double) async throws {
        let bench = try Bench(savedSession("a", life: 1))
        bench.clock.advance(seconds: 10)
        let serverTime = bench.clock.now.seconds + ahead
        let access = token("b", ["exp": .number(serverTime + 3600)])
        bench.http.expect(.post, "/v1/login2") { _ in
            HTTPResponse(
                status: 200, headers: [HTTPHeader("Date", httpDate(serverTime))],
                body: Array(#"{"status":"success","accesstoken":"\#(access)"}"#.utf8))
        }
        _ = try await bench.session.accessToken()
        let stored = try #require(try await bench.stored())
        #expect(stored.serverIsAhead == ahead)
        #expect(try await bench.session.status().expires == bench.clock.now + 3600)
        bench.clock.advance(seconds: 3539)
        _ = try await bench.session.accessToken()
        #expect(bench.http.requests.count == 1)

        // This answer has no date and belongs to another process, so the stored difference counts.
        bench.clock.advance(seconds: 2)
        let next = token("c", ["exp": .number(bench.clock.now.seconds + ahead + 1000)])
        bench.http.expect(.post, "/v1/login2", #"{"status":"success","accesstoken":"\#(next)"}"#)
        let other = try AccountSession.rainMaker(
            bench.deployment, http: bench.http, store: bench.store, clock: bench.clock, timer: ManualClock())
        _ = try await other.accessToken()
        #expect(try await other.status().expires == bench.clock.now + 1000)
        try bench.http.finish()
    }

    // MARK: When the service asks to wait

    @Test(
        "Retry-After is reported as a time, and nothing is sent to the service for that long",
        arguments: [(503, 30.0), (429, 7200)])
    func retryAfter(status: Int, seconds: Double) async throws {
        let bench = try Bench(savedSession("a", life: 100))
        bench.clock.advance(seconds: 95)
        let wait = "\(Int(seconds))"
        bench.http.expect(.post, "/v1/login2") { _ in
            HTTPResponse(status: status, headers: [HTTPHeader("Retry-After", wait)], body: Array("{}".utf8))
        }
        #expect(try await bench.session.accessToken() == tokens("a", life: 100).access, "it lives for five seconds")
        _ = try await bench.session.accessToken()
        #expect(bench.http.requests.count == 1, "asked once")

        bench.clock.advance(seconds: 10)
        let left = min(seconds, 3600) - 10
        let error = await accountError { () throws(AccountError) in try await bench.session.accessToken() }
        #expect(error?.code == (status == 429 ? .rateLimited : .serverFault))
        #expect(error?.status == status)
        #expect(error?.retryAfter == .seconds(left))
        #expect(bench.http.requests.count == 1)
        #expect(try await bench.stored() != nil)

        bench.clock.advance(seconds: left)
        bench.expectRenewal(to: "b")
        _ = try await bench.session.accessToken()
        try bench.http.finish()
    }

    @Test("tokens that another process stored are used, whatever the service answered to this one")
    func retryAfterElsewhere() async throws {
        let bench = try Bench(savedSession("a", life: 1))
        bench.clock.advance(seconds: 10)
        bench.http.expect(.post, "/v1/login2") { _ in
            HTTPResponse(status: 503, headers: [HTTPHeader("Retry-After", "60")], body: Array("{}".utf8))
        }
        _ = try? await bench.session.accessToken()
        let newer = savedSession("c", received: bench.clock.now.seconds)
        try await save(newer, bench)
        #expect(try await bench.session.accessToken() == newer.tokens.access)
        try bench.http.finish()
    }

    private func save(_ session: SavedSession, _ bench: Bench) async throws {
        try await bench.store.exclusively(bench.key, within: .seconds(120)) { access async throws(AccountError) in
            try await access.save(session)
        }
    }
}

/// Replaces a file by another, like a program that ignores locks.
private func replaceFile(_ path: String, _ bytes: [UInt8]) {
    let temporary = path + ".other"
    _ = FileManager.default.createFile(
        atPath: temporary, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
    rename(temporary, path)
}

private func httpDate(_ seconds: Double) -> String {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return format.string(from: Date(timeIntervalSince1970: seconds))
}
