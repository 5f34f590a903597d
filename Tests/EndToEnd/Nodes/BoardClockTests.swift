// SPDX-License-Identifier: Apache-2.0
import RainKit
import TestSupport
import Testing

@testable import rainctl

/// `date` knows the zones of the machine.
@Suite("A board's clock")
struct BoardClockTests {
    @Test("a zone of another place is asked for, and one that nobody knows is not taken for UTC")
    func zones() async throws {
        let clock = BoardClock(environment: currentEnvironment())
        for (zone, hours) in [("Etc/GMT-14", 14), ("Etc/GMT+12", -12), ("UTC", 0)] {
            let before = ClockReading(hoursEast: hours)
            let reading = await clock.reading(in: zone, within: .waitLimit)
            let after = ClockReading(hoursEast: hours)
            #expect(reading == before || reading == after, "\(zone)")
        }
        for zone in ["Mars/Olympus", "../zoneinfo/UTC", "/etc/localtime", "a b"] {
            #expect(await clock.reading(in: zone, within: .waitLimit) == nil, "\(zone)")
        }
    }
}
