// SPDX-License-Identifier: Apache-2.0
import RainIO
import TestSupport
import Testing

@Suite("DTR and RTS")
struct ModemLinesTests {
    @Test(
        "restart the application: RTS alone is asserted, then neither, and DTR never is",
        arguments: [(ModemLines.restart, Duration.milliseconds(100)), (.restartOverUSB, .milliseconds(200))])
    func restart(lines: ModemLines, pulse: Duration) {
        // esptool's HardReset: setRTS(True), sleep(0.1), setRTS(False); over the chip's own USB 0.2 s, and 0.2 s afterwards.
        #expect(lines.steps.map(\.requestToSend) == [true, false])
        #expect(lines.steps.allSatisfy { !$0.dataTerminalReady })
        #expect(lines.steps[0].pause == pulse)
    }

    @Test("a port without such lines reports that, and still works")
    func pty() async throws {
        let terminal = try PseudoTerminal()
        let port = try SerialPort.open(terminal.path)
        await #expect(throws: SerialPortError.self) {
            try await port.move(.restart) { try await Task.sleep(for: $0) }
        }
        try await port.write([0x0D])
        await port.close()
        do {
            try await port.move(.restart) { _ in }
            Issue.record("a closed port moved its lines")
        } catch {
            #expect(error.code == .closed)
        }
    }
}
