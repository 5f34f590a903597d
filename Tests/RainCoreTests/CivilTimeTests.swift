// SPDX-License-Identifier: Apache-2.0
import RainCore
import Testing

@Suite("Dates in words")
struct CivilTimeTests {
    @Test(
        "providers' spellings of the same moment",
        arguments: [
            "2014-01-05 11:57:26Z", "2014-01-05T11:57:26Z", "2014-01-05 11:57:26+0000", "2014-01-05 11:57:26+00:00",
            "2014-01-05 11:57:26", "2014-01-05 11:57:26.125Z",
        ])
    func spellings(text: String) { #expect(CivilTime(text)?.secondsSince1970 == 1_388_923_046) }

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
            let time = CivilTime(secondsSince1970: day * 86_400 + 45_296)
            #expect(time.secondsSince1970 == day * 86_400 + 45_296)
            #expect(CivilTime(time.text()) == time && CivilTime(time.text(separator: "T") + "Z") == time)
            #expect(CivilTime(basic: time.basicText) == time && CivilTime(httpDate: time.httpDate) == time)
        }
        #expect(CivilTime(secondsSince1970: 951_782_400).text() == "2000-02-29 00:00:00")
        #expect(CivilTime(secondsSince1970: 1_893_456_000).text() == "2030-01-01 00:00:00")
        #expect(CivilTime(secondsSince1970: 4_107_542_399).text() == "2100-02-28 23:59:59")
        #expect(CivilTime(secondsSince1970: -1).text() == "1969-12-31 23:59:59")
    }

    @Test("the basic form of ISO 8601, and no other text")
    func basic() {
        #expect(CivilTime(secondsSince1970: 1_369_353_600).basicText == "20130524T000000Z")
        for text in [
            "", "20130524T000000", "20130524 000000Z", "20131324T000000Z", "2013052+T000000Z", "20130524T240000Z",
        ] {
            #expect(CivilTime(basic: text) == nil, "\(text)")
        }
    }

    @Test(
        "dates are as RFC 9110 writes them",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        ])
    func httpDates(seconds: Int, text: String) { #expect(CivilTime(secondsSince1970: seconds).httpDate == text) }
}
