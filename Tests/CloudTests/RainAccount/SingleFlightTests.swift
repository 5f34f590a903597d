// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import RainMaker
import TestSupport
import Testing

@Suite("One renewal at a time")
struct SingleFlightTests {
    @Test("fifty requests with an expired token share one renewal")
    func shared() async throws {
        let bench = try Bench(savedSession("a", life: 1))
        bench.clock.advance(seconds: 10)
        bench.expectRenewal(to: "b")
        for _ in 0..<50 { bench.http.expect(.get, "/v1/user/nodes", "{}") }
        await withTaskGroup(of: AccountError?.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await accountError { () throws(AccountError) in try await bench.session.send(bench.request) }
                }
            }
            for await error in group { #expect(error == nil) }
        }
        try bench.http.finish()
    }

    @Test("fifty requests that are answered 401 share one renewal")
    func sharedAfterRejection() async throws {
        let bench = try Bench(savedSession("a"))
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let renewal = bench.renewal("b")
        // The renewal is answered once all fifty were rejected.
        for number in 1...50 {
            bench.http.expect(.get, "/v1/user/nodes") { _ in
                if number == 50 { opener.finish() }
                return HTTPResponse(status: 401)
            }
            if number == 1 {
                bench.http.expect(unordered: .post, "/v1/login2") { _ in
                    for await _ in gate {}
                    return HTTPResponse(status: 200, body: Array(renewal.utf8))
                }
            }
        }
        for _ in 0..<50 { bench.http.expect(.get, "/v1/user/nodes", "{}") }
        await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<50 { group.addTask { try? await bench.session.send(bench.request).status } }
            for await status in group { #expect(status == 200) }
        }
        #expect(bench.http.requests.filter { $0.method == .post }.count == 1)
        try bench.http.finish()
    }

    @Test("a cancelled caller leaves at once and alone; the others get their tokens")
    func cancelledWaiter() async throws {
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
        bench.http.expect(.get, "/v1/user/nodes", "{}")
        let leaving = Task {
            await accountError { () throws(AccountError) in try await bench.session.send(bench.request) }
        }
        for await _ in started {}
        let staying = Task { try await bench.session.send(bench.request).status }
        leaving.cancel()
        #expect(await leaving.value?.code == .cancelled, "while the renewal still waits for its answer")
        opener.finish()
        #expect(try await staying.value == 200)
        try bench.http.finish()
    }

    @Test("a failure is reported to the waiting callers and then forgotten")
    func notSticky() async throws {
        let bench = try Bench(savedSession("a", life: 1))
        bench.clock.advance(seconds: 10)
        bench.http.expect(.post, "/v1/login2", failure: .unreachable)
        #expect(
            await accountError { () throws(AccountError) in try await bench.session.send(bench.request) }?.code
                == .network)
        bench.expectRenewal(to: "b")
        bench.http.expect(.get, "/v1/user/nodes", "{}")
        #expect(try await bench.session.send(bench.request).status == 200)
        try bench.http.finish()
    }

    /// Two sessions over one folder act like two processes: `flock` distinguishes open files, not processes.
    @Test("of two processes one renews, and the other finds the stored tokens", arguments: 1...5)
    func processes(round: Int) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("accounts")
            let first = try Bench(store: FileCredentialStore(folder: path))
            try await first.store.exclusively(first.key, within: .seconds(120)) { access async throws(AccountError) in
                try await access.save(savedSession("a", life: 1))
            }
            first.clock.advance(seconds: 10)
            let shared = first.http
            let benches = try (0..<8).map { _ in
                try AccountSession.rainMaker(
                    first.deployment, http: shared, store: FileCredentialStore(folder: path), clock: first.clock,
                    timer: ManualClock())
            }
            first.expectRenewal(to: "b")
            for _ in benches { shared.expect(.get, "/v1/user/nodes", "{}") }
            await withTaskGroup(of: AccountError?.self) { group in
                for session in benches {
                    group.addTask {
                        await accountError { () throws(AccountError) in try await session.send(first.request) }
                    }
                }
                for await error in group { #expect(error == nil) }
            }
            try shared.finish()
        }
    }
}
