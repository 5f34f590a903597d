// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommTransports
import RainIO
import RainKitTesting
import TestSupport
import Testing

@Suite("The protocomm console keeps the promises of every transport", .timeLimit(.minutes(10)))
struct ConsoleConformanceTests {
    @Test("over a pty")
    func conformance() async throws {
        let boards = Boards()
        try await TransportConformance.check {
            let board = try EchoingConsole { line in
                let words = line.split(separator: " ")
                guard words.count == 3, words[0] == "prov-config" else { return "" }
                switch TransportConformance.Board.reply(to: hex(String(words[2]))) {
                case .answer(let bytes): return "\r\r\n" + hexString(bytes) + "\r\r\n"
                case .refuse: return "E (1) protocomm_console: handler failed\r\n"
                case .silence: return nil
                }
            }
            await boards.keep(board)
            return ConsoleTransport(port: try SerialPort.open(board.terminal.path), clock: ManualClock())
        }
    }

    private actor Boards {
        private var boards: [EchoingConsole] = []
        func keep(_ board: EchoingConsole) { boards.append(board) }
    }
}
