// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport

/// The stock example's console on a pty, as far as its commands go.
final class StockFirmware: Sendable {
    let console: EchoingConsole
    private let log = Mutex<[String]>([])

    /// - Parameters:
    ///   - mapping: what `add-user` prints after its first line.
    ///   - settings: what `wifi-prov` prints.
    ///   - later: what it prints from the second time on, if that is something else.
    init(
        nodeID: String = "7CDFA1E86C14", mapping: String = "", settings: String = "", later: String? = nil,
        interruptEcho: @escaping @Sendable (Int, Int) -> String? = { _, _ in nil }
    ) throws {
        let times = Atomic(0)
        console = try EchoingConsole(firstPrompt: false, interruptEcho: interruptEcho) { line in
            // The console goes to the next line before it runs a command.
            let newline = "\r\n"
            if line == "get-node-id" { return newline + "esp_rmaker_commands: Node ID: \(nodeID)\r\n" }
            if line.hasPrefix("add-user ") {
                return newline + "esp_rmaker_commands: Starting user-node mapping\r\n" + mapping
            }
            if line.hasPrefix("wifi-prov ") {
                let isFirst = times.wrappingAdd(1, ordering: .relaxed).oldValue == 0
                return newline + (isFirst ? settings : later ?? settings)
            }
            return newline
        }
    }

    func log(_ lines: String...) async {
        for line in lines { await console.terminal.send("\u{1B}[0;32m" + line + "\u{1B}[0m\r\n") }
    }

    /// The lines that were typed, but for empty ones.
    var typed: [String] { console.typed.filter { !$0.isEmpty } }
}
