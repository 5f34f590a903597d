// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import firmware_sim

@Suite("Which session an HTTP request belongs to")
struct HTTPSessionsTests {
    private struct Server {
        var sessions = HTTPSessions()
        var ids: UInt32 = 100

        mutating func request(_ cookie: String? = nil, on connection: Int) -> HTTPSessions.Decision {
            sessions.session(cookie: cookie.map { Array($0.utf8) }, connection: connection) {
                ids += 1
                return ids
            }
        }
    }

    @Test("the connection that began a session keeps it without a cookie")
    func sameConnection() {
        var server = Server()
        #expect(server.request(on: 1) == .new(101))
        #expect(server.request(on: 1) == .same(101))
    }

    @Test("a cookie keeps the session on any connection")
    func cookie() {
        var server = Server()
        _ = server.request(on: 1)
        #expect(server.request("session=101", on: 2) == .same(101))
        #expect(server.request("session=101", on: 3) == .same(101))
    }

    @Test("a request without a cookie on another connection begins a new session")
    func another() {
        var server = Server()
        _ = server.request(on: 1)
        #expect(server.request(on: 2) == .new(102))
        #expect(server.request("session=101", on: 1) == .new(103))
    }

    @Test("once the cookie was used, the connection no longer counts")
    func cookieWins() {
        var server = Server()
        _ = server.request(on: 1)
        #expect(server.request("session=101", on: 1) == .same(101))
        #expect(server.request(on: 1) == .new(102))
    }

    @Test(
        "a short wrong cookie kills the session; one of 20 characters or more counts as none",
        arguments: [
            ("session=1", false), ("session=101; a=b", false), (" session=101", false), ("SESSION=101", false),
            ("session=101; other=12345", true), (String(repeating: "x", count: 20), true),
            (String(repeating: "x", count: 19), false),
        ])
    func otherCookies(cookie: String, isSame: Bool) {
        var server = Server()
        _ = server.request(on: 1)
        #expect(server.request(cookie, on: 1) == (isSame ? .same(101) : .new(102)))
    }
}
