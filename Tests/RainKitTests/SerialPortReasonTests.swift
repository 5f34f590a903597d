// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainIO
import Testing

@testable import RainKit

@Suite("Reasons why a serial port cannot be used")
struct SerialPortReasonTests {
    static let words: [(SerialPortError.Code, BoardError.Code, String?)] = [
        (.busy, .busy, nil), (.lost, .deviceLost, "port_gone"), (.notFound, .unavailable, "no_port"),
        (.denied, .unavailable, "port_denied"), (.notATerminal, .unavailable, "not_a_port"), (.closed, .cancelled, nil),
    ]

    @Test("each has a reason, and a code for its cause", arguments: words)
    func word(of code: SerialPortError.Code, told: BoardError.Code, reason: String?) {
        let error = BoardError(SerialPortError(code, path: "/dev/ttyUSB0", message: "Said."))
        #expect(error.code == told && error.reason == reason)
    }
}
