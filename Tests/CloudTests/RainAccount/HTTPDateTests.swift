// SPDX-License-Identifier: Apache-2.0
@testable import IdentityProviders
@testable import RainAccount
import RainHTTP
import Testing

@Suite("Date and Retry-After")
struct HTTPDateTests {
    @Test(
        "a date is read in the form of RFC 9110",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Fri, 15 Jan 2027 08:00:00 GMT", 1_800_000_000), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ])
    func date(text: String, seconds: Double) {
        #expect(UnixTime(httpDate: text) == UnixTime(seconds: seconds))
    }

    @Test(
        "anything else is not a date",
        arguments: [
            "", "0", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Mon 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:+7 GMT", "Sun, 06 Nov 1969 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
        ])
    func notADate(text: String) {
        #expect(UnixTime(httpDate: text) == nil)
    }

    @Test("without the server's own clock, a date is compared with this machine's")
    func ownClock() {
        struct Clock: WallClock {
            let now = UnixTime(seconds: 1_800_000_000.5)
        }
        let response = HTTPResponse(
            status: 429, headers: [HTTPHeader("Retry-After", "Fri, 15 Jan 2027 08:00:30 GMT")])
        #expect(response.waitingTime(by: Clock()) == .seconds(30))
    }

    @Test(
        "Retry-After is seconds, or a date by the server's own clock",
        arguments: [
            ("120", 120.0), ("0", 0), ("999999999", 86_400), ("Fri, 15 Jan 2027 08:00:30 GMT", 30),
            ("Fri, 15 Jan 2027 07:00:00 GMT", 0), ("-1", nil), ("soon", nil), ("1.5", nil), ("", nil),
            ("9999999999", nil),
        ])
    func retryAfter(text: String, seconds: Double?) {
        let response = HTTPResponse(
            status: 503,
            headers: [HTTPHeader("retry-after", text), HTTPHeader("Date", "Fri, 15 Jan 2027 08:00:00 GMT")])
        #expect(response.retryAfter == seconds.map { .seconds($0) })
    }
}
