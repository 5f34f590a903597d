// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import rainctl

@Suite("rainctl in a terminal of a size")
struct TerminalSizeTests {
    @Test("what the board logs is drawn beside what is waited for, but for what may be a secret")
    func boardWords() {
        let words = LastLogLine()
        words.take("I (512) wifi:state: init -> auth (b0)")
        #expect(words.last == "I (512) wifi:state: init -> auth (b0)")
        words.take("I (513) app_wifi: \tPassword: planted")
        #expect(words.last.isEmpty)
        for line in ["  ", "5a5fd9804adc", ""] {
            words.take(line)
            #expect(words.last.isEmpty)
        }
    }
}
