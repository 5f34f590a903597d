// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite("What the identity systems remember and write")
struct IdentityValueTests {
    @Test("a date with any offset from UTC is the same moment as date(1) makes of it")
    func offsets() async throws {
        for offset in ["+0100", "+01:00", "+01", " +0100", "-05:30", "-0000", "+14:00", "-12", "+0545", "Z"] {
            let text = "2014-01-05 11:57:26\(offset)"
            let judge = try await run("date", ["-u", "-d", text, "+%s"])
            let expected = try #require(Int64(judge.standardOutput.filter(\.isNumber)), "\(judge.standardError)")
            #expect(seconds(ofDate: text) == expected, "\(text)")
        }
        for offset in [
            "+", "+1", "+100", "+01:0", "+0:100", "+2400", "+0060", "0100", "+01000", "+-100", "  +0100", "CET",
        ] {
            #expect(seconds(ofDate: "2014-01-05 11:57:26\(offset)") == nil, "\(offset)")
        }
    }
}
