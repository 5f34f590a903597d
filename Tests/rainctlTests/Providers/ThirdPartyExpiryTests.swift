// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("When a third party's token ends")
struct ThirdPartyExpiryTests {
    @Test("a number is a time from now, a date is itself")
    func moments() throws {
        let now = UnixTime(seconds: 1_000_000)
        #expect(EndArgument(argument: "90")?.moment(from: now) == now + 90)
        #expect(EndArgument(argument: "2m")?.moment(from: now) == now + 120)
        #expect(EndArgument(argument: "2014-01-05T11:57:26Z")?.moment(from: now).seconds == 1_388_923_046)
        #expect(EndArgument(argument: "2014-01-05") == nil && EndArgument(argument: "") == nil)
    }
}
