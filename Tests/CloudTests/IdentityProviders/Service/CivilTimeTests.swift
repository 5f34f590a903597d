// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import IdentityProviders
import RainAccount

@Suite("Dates in words")
struct CivilTimeTests {
    @Test(
        "providers' spellings of the same moment",
        arguments: [
            "2014-01-05 11:57:26Z", "2014-01-05T11:57:26Z", "2014-01-05 11:57:26+0000", "2014-01-05 11:57:26+00:00",
            "2014-01-05 11:57:26", "2014-01-05 11:57:26.125Z",
        ])
    func spellings(text: String) { #expect(CivilTime(text)?.time == UnixTime(seconds: 1_388_923_046)) }

    @Test(
        "text that is not a date in UTC is refused",
        arguments: [
            "", "2014-01-05", "2014-01-05 11:57:26+0100", "2014-13-05 11:57:26Z", "2014-00-05 11:57:26Z",
            "2014-01-05 24:00:00Z", "2014-01-05 11:60:00Z", "2014-01-05%2011:57:26Z", "2014/01/05 11:57:26Z",
            "1969-01-05 11:57:26Z", "+014-01-05 11:57:26Z", "2014-01-05 11:57:26ZZ",
        ])
    func refused(text: String) { #expect(CivilTime(text) == nil) }

    @Test("dates are written and read again, over leap days and centuries")
    func roundTrip() {
        for day in stride(from: 0, to: 60_000, by: 29) {
            let time = UnixTime(seconds: Double(day) * 86_400 + 45_296)
            #expect(CivilTime(CivilTime(time).text)?.time == time)
        }
        #expect(CivilTime(UnixTime(seconds: 951_782_400)).text == "2000-02-29 00:00:00")
        #expect(CivilTime(UnixTime(seconds: 1_893_456_000)).text == "2030-01-01 00:00:00")
        #expect(CivilTime(UnixTime(seconds: 4_107_542_399)).text == "2100-02-28 23:59:59")
    }
}
