// SPDX-License-Identifier: Apache-2.0
import Logging
import RainKit
import Testing

@testable import rainctl

@Suite("Lines of --log-format json")
struct LogLineTests {
    @Test("numbers are numbers, and text with digits stays text")
    func numbers() {
        let line = LogLine(
            time: "t", level: .debug, label: "rainctl", message: "request",
            metadata: [
                "status": .stringConvertible(200), "load": .stringConvertible(0.5), "peer": "42",
                "none": .stringConvertible(Double.nan),
            ])
        let text = JSONText.line(line)
        #expect(text.contains(#""status":200"#) && text.contains(#""load":0.5"#), "\(text)")
        #expect(text.contains(#""peer":"42""#) && text.contains(#""none":"nan""#), "\(text)")
    }

    @Test("a terminal without UTF-8 gets ASCII instead of bars")
    func signs() {
        #expect(DrawnSigns.shown("1  ▂▄▆█  Home", ["LC_ALL": "C"]) == "1  .:|#  Home")
        #expect(DrawnSigns.shown("▂▄▆█", ["LANG": "de_DE.UTF-8"]) == "▂▄▆█")
        #expect(DrawnSigns.shown("█░", ["LANG": "de_DE.UTF-8", "TERM": "dumb"]) == "#-")
    }
}
