// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import ProtocommTransports

@Suite("Cookies, fuzzed")
struct CookieFuzzTests {
    @Test("whatever is taken for a session cookie goes back as its number alone")
    func cookie() async throws {
        try await withOwnProcessInSoak {
            let examples = ["session=1", "session=4294967295; Path=/; HttpOnly", "a=b; session=2", "session=00012"]
            let report = fuzz("SessionCookie", from: examples.map { Array($0.utf8) }, seed: 33) { input in
                guard let cookie = SessionCookie(setCookie: String(decoding: input, as: UTF8.self)) else { return }
                #expect(cookie.headerValue.utf8.count < 20)
                #expect(SessionCookie(setCookie: cookie.headerValue) == cookie)
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
