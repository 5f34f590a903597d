// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@Suite("Spans of time for people")
struct PlainTimeTests {
    @Test(
        "the unit grows with the span",
        arguments: [
            (0, "0 s"), (59, "59 s"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"), (3660, "1 h 1 min"),
            (36_000, "10 h"), (172_799, "47 h"), (172_800, "2 days"), (8_640_000, "100 days"),
        ])
    func spans(seconds: Int64, text: String) {
        #expect(PlainTime.span(seconds: seconds) == text)
    }

    @Test("clocks that disagree give no span")
    func backwards() {
        #expect(PlainTime.span(from: UnixTime(seconds: 10), to: UnixTime(seconds: 5)) == nil)
    }
}
