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
    init(
        nodeID: String = "7CDFA1E86C14", mapping: String = "", settings: String = "",
        interruptEcho: @escaping @Sendable (Int, Int) -> String? = { _, _ in nil }
    ) throws {
        console = try EchoingConsole(firstPrompt: false, interruptEcho: interruptEcho) { line in
            // The console goes to the next line before it runs a command.
            let newline = "\r\n"
            if line == "get-node-id" { return newline + "esp_rmaker_commands: Node ID: \(nodeID)\r\n" }
            if line.hasPrefix("add-user ") {
                return newline + "esp_rmaker_commands: Starting user-node mapping\r\n" + mapping
            }
            if line.hasPrefix("wifi-prov ") { return newline + settings }
            return newline
        }
    }

    func log(_ lines: String...) async {
        for line in lines { await console.terminal.send("\u{1B}[0;32m" + line + "\u{1B}[0m\r\n") }
    }

    /// The lines that were typed, but for empty ones.
    var typed: [String] { console.typed.filter { !$0.isEmpty } }
}
