// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainIO
import TestSupport
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

    @Test("a port that does not exist is reported with the port that was probably meant")
    func absent() async throws {
        try await withTemporaryFolder { folder in
            let tree = try SystemTree(in: folder)
            let files = SystemFiles(root: tree.root)
            func message(_ path: String) -> BoardError {
                .absent(SerialPortError(.notFound, path: path, message: "Said."), in: files)
            }
            #expect(message("ttyUSB70").message == "Said." && message("ttyUSB70").remedies == [])
            try tree.addDevice("ttyUSB70", socket: "1-1", vendor: "10c4", product: "ea60", title: "CP2102N")
            try tree.addDevice("ttyUSB71", socket: "1-2", vendor: "10c4", product: "ea60", title: "CP2102N")
            try tree.write("", to: "dev/ttyUSB70")
            let port = tree.port("ttyUSB70")
            #expect(message("ttyUSB70").message == "The port ttyUSB70 does not exist. Did you mean \(port)?")
            #expect(message("COM3").message.hasPrefix("COM3 is the name of a port on Windows."))
            #expect(message("COM3").remedies == [.port([port])])
            let wrong = message(tree.port("ttyUSB79"))
            #expect(wrong.message == "Said." && wrong.remedies == [.port([port])])
            let hidden = message(tree.port("ttyUSB71"))
            #expect(hidden.message.hasPrefix("The USB device \"CP2102N\" is plugged in, but its port "))
            #expect(hidden.reason == "no_port" && hidden.message.contains("docker run --device /dev/ttyUSB71"))
        }
    }
}
