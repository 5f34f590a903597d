// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainHTTP
import TestSupport
import Testing

@Suite("Date and Retry-After, fuzzed")
struct HTTPDateFuzzTests {
    @Test("any text is an existing date, a time of at most a day, or nothing")
    func headers() async throws {
        try await withOwnProcessInSoak {
            let examples = [
                "Sun, 06 Nov 1994 08:49:37 GMT", "Fri, 15 Jan 2027 08:00:30 GMT", "Sat, 31 Dec 2016 23:59:60 GMT",
                "120",
                "999999999", "Tue, 29 Feb 2000 23:59:59 GMT",
            ].map { Array($0.utf8) }
            let report = fuzz("Retry-After", from: examples, seed: 36, maximumLength: 64) { input in
                let text = String(decoding: input, as: UTF8.self)
                let response = HTTPResponse(
                    status: 503,
                    headers: [HTTPHeader("Retry-After", text), HTTPHeader("Date", "Fri, 15 Jan 2027 08:00:00 GMT")])
                if let wait = response.retryAfter { #expect((.zero ... .seconds(86_400)).contains(wait)) }
                if let date = UnixTime(httpDate: text) { #expect(date.seconds >= 0 && date.seconds.isFinite) }
                _ =
                    HTTPResponse(status: 200, headers: [HTTPHeader("Date", text), HTTPHeader("Retry-After", text)])
                    .retryAfter
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
