// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RainIO

@Suite("The end of a terminal")
struct TerminalTests {
    @Test("waits for what is under way, as long as the longest lines need")
    func underWay() {
        var (held, waited): (Int32, Int32) = (2800, 0)
        let isEmpty = Terminal.empties(held: { held }) { milliseconds in
            waited += milliseconds
            // 115,200 baud, ten bits a byte.
            held = max(0, held - milliseconds * 1152 / 100)
        }
        #expect(isEmpty)
        #expect(waited == 255)
    }

    @Test("comes at once where nothing is held, and does not wait for a device that takes nothing")
    func stuck() {
        var pauses: [Int32] = []
        #expect(Terminal.empties(held: { 0 }) { pauses.append($0) })
        #expect(pauses == [])
        #expect(!Terminal.empties(held: { 64 }) { pauses.append($0) })
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128])
    }
}
