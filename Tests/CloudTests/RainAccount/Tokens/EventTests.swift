// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import RainMaker
import TestSupport
import Testing

@Suite("Events of a session")
struct EventTests {
    @Test("the events of a session are sent in order, each once, to every listener")
    func life() async throws {
        let events = try await life(at: Bench(store: FullStore { _ in false }))
        #expect(events == ["saved", "signedIn", "saved", "refreshed", "signedOut here"])
    }

    @Test("a session that ends with the process is not reported as saved")
    func lifeInMemory() async throws {
        #expect(try await life(at: Bench()) == ["signedIn", "refreshed", "signedOut here"])
    }

    /// The events of a sign-in, a renewal and a sign-out, which both listeners get.
    private func life(at bench: Bench) async throws -> [String] {
        let listeners = [bench.session.events(), bench.session.events()]
        bench.expectSignIn("a")
        _ = try await bench.session.signIn(.password(user: "u", password: Secret("planted-password")))
        bench.clock.advance(seconds: 3580)
        bench.expectRenewal(to: "b")
        bench.http.expect(.get, "/v1/user/nodes", "{}")
        _ = try await bench.session.send(bench.request)
        bench.http.expect(.post, "/v1/logout2?logout_all=false", #"{"status":"success"}"#)
        _ = try await bench.session.signOut()
        try bench.http.finish()
        let heard = await names(listeners[0], through: "signedOut here")
        #expect(await names(listeners[1], through: "signedOut here") == heard)
        return heard
    }

    @Test("an earlier session is reported as loaded once, and not again while it stays the same")
    func loaded() async throws {
        let bench = try Bench(savedSession("a"))
        let listener = bench.session.events()
        for _ in 0..<3 { _ = try await bench.session.userID() }
        try await other(bench).renewed("b")
        for _ in 0..<3 { _ = try await bench.session.userID() }
        try await other(bench).removed()
        _ = try? await bench.session.userID()
        _ = try? await bench.session.userID()
        #expect(await names(listener, 3) == ["loaded", "loaded", "signedOut elsewhere"])
    }

    @Test("an ended session is reported once, whoever else asks")
    func expired() async throws {
        let bench = try Bench(store: FullStore(session: savedSession("a", life: 1)) { _ in false })
        bench.clock.advance(seconds: 10)
        let listener = bench.session.events()
        bench.http.expect(
            .post, "/v1/login2", status: 400, #"{"status":"failure","error_code":101017,"description":"d"}"#)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { _ = try? await bench.session.send(bench.request) }
            }
        }
        // A new session shows that no event occurred in between.
        bench.expectSignIn("b")
        _ = try await bench.session.signIn(.password(user: "u", password: Secret("planted-password")))
        let heard = await names(listener, 4)
        #expect(heard == ["loaded", "expired 101017", "saved", "signedIn"])
        try bench.http.finish()
    }

    @Test("a fault on the way ends nothing and sends no event")
    func fault() async throws {
        let bench = try Bench(store: FullStore(session: savedSession("a", life: 1)) { _ in false })
        bench.clock.advance(seconds: 10)
        let listener = bench.session.events()
        bench.http.expect(.post, "/v1/login2", failure: .timeout)
        _ = try? await bench.session.send(bench.request)
        bench.expectRenewal(to: "b")
        bench.http.expect(.get, "/v1/user/nodes", "{}")
        _ = try await bench.session.send(bench.request)
        #expect(await names(listener, 3) == ["loaded", "saved", "refreshed"])
    }

    @Test("a listener that does not read is dropped, and the others continue")
    func behind() async throws {
        let bench = try Bench(savedSession("0"))
        let slow = bench.session.events()
        let quick = bench.session.events()
        let listening = Task { await names(quick, 400) }
        for number in 1...400 {
            try await other(bench).renewed("\(number)")
            _ = try await bench.session.userID()
            // This lets the fast listener keep up.
            await Task.yield()
        }
        var heard = 0
        for await _ in slow { heard += 1 }
        #expect(heard == 256, "the first ones, and then the end")
        let all = await listening.value
        #expect(all.count >= 256)
    }

    @Test("the streams end with the session, and leaving one is not an event for the others")
    func end() async throws {
        var bench: Bench? = try Bench(savedSession("a"))
        let left = try #require(bench).session.events()
        for await _ in left.prefix(0) {}
        let listener = try #require(bench).session.events()
        _ = try await #require(bench).session.userID()
        bench = nil
        var heard: [String] = []
        for await event in listener { heard.append(event.name) }
        #expect(heard == ["loaded"])
    }

    /// Another process with the same store.
    private struct Other {
        let bench: Bench

        func renewed(_ name: String) async throws {
            try await bench.store.exclusively(bench.key, within: .seconds(120)) { access async throws(AccountError) in
                try await access.save(savedSession(name))
            }
        }

        func removed() async throws {
            try await bench.store.exclusively(bench.key, within: .seconds(120)) { access async throws(AccountError) in
                try await access.remove()
            }
        }
    }

    private func other(_ bench: Bench) -> Other { Other(bench: bench) }

    private func names(_ stream: AsyncStream<AccountEvent>, through last: String) async -> [String] {
        var names: [String] = []
        for await event in stream {
            names.append(event.name)
            if event.name == last { break }
        }
        return names
    }

    private func names(_ stream: AsyncStream<AccountEvent>, _ count: Int) async -> [String] {
        var names: [String] = []
        for await event in stream {
            names.append(event.name)
            if names.count == count { break }
        }
        return names
    }
}

extension Bench {
    func expectSignIn(_ name: String) {
        let access = accessToken(name, issued: clock.now.seconds)
        http.expect(
            .post, "/v1/login2",
            #"{"status":"success","idtoken":"id-\#(name)","accesstoken":"\#(access)","refreshtoken":"r-\#(name)"}"#)
        http.expect(.get, "/v1/user2", Self.profile)
    }
}
