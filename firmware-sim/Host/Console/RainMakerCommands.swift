// SPDX-License-Identifier: Apache-2.0
import DeviceCore

/// The commands that RainMaker's examples register on the UART (`esp_rmaker_commands.c`).
struct RainMakerCommands: ConsoleCommands {
    private static let invalidArgument = 0x102
    private static let tag = "esp_rmaker_commands"

    func run(_ words: [[UInt8]], board: Board, log: BoardLog) -> CommandOutcome {
        guard let name = words.first else { return .output([]) }
        var output: [UInt8] = []
        var code = 0
        func printLine(_ text: String) { output += Array((text + "\r\n").utf8) }

        switch String(decoding: name, as: UTF8.self) {
        case "get-node-id": printLine("\(Self.tag): Node ID: \(board.nodeID)")
        case "add-user":
            guard words.count == 3 else {
                printLine("\(Self.tag): Invalid Usage.")
                code = Self.invalidArgument
                break
            }
            printLine("\(Self.tag): Starting user-node mapping")
            board.step { $0.startUserMapping(userID: words[1], secretKey: words[2]) }
        case "wifi-prov":
            guard words.count >= 2 else {
                printLine("\(Self.tag): Invalid Usage.")
                code = Self.invalidArgument
                break
            }
            let credentials = WiFiCredentials(
                ssid: Array(words[1].prefix(32)), passphrase: words.count == 3 ? Array(words[2].prefix(63)) : [])
            // Its result is not looked at.
            if !board.step({ $0.provision(credentials, now: MonotonicClock.now) }) {
                // While it stops the manager is past having received some; afterwards there is none.
                output += log.line(
                    .error, "network_prov_mgr",
                    board.core.isServing
                        ? "Wi-Fi credentials already received by provisioning app"
                        : "Invalid state of Provisioning app")
            }
        case "sign-data":
            guard words.count == 2 else {
                printLine("Usage: sign-data <data>")
                code = -1
                break
            }
            if let signature = board.core.sign(words[1]) {
                let digits = hexDigits(signature)
                output += log.line(.info, Self.tag, "hex signature(len \(digits.utf8.count)): \(digits)")
            } else {
                output += log.line(.error, Self.tag, "Failed to sign message")
                code = -1
            }
        case "up-time": printLine("rmaker_common_cmds: Uptime of the device: \(log.uptime) milliseconds")
        case "mem-dump": printLine("Free:\t181300\t\t8388608\t8569908\r\nLargest:\t110592\t8257536\t8257536")
        case "help": for line in Self.help { printLine(line) }
        // ESP_ERR_NOT_FOUND is an error of the dispatcher, and not printed.
        default: return .output([])
        }
        if code != 0 { printLine("rmaker_console: Console command failed with error: \(code)") }
        return .output(output)
    }

    func resume(board: Board, log: BoardLog) -> CommandOutcome { .output([]) }

    private static let help = [
        "help ", "  Print the list of registered commands", "",
        "up-time ", "  Get the device up time in milliseconds.", "",
        "mem-dump ", "  Get the available memory.", "",
        "add-user ", "  Initiate the User-Node mapping from the node. Usage: add-user <user_id> <secret_key>", "",
        "get-node-id ", "  Get the Node ID for this board", "",
        "wifi-prov ", "  Wi-Fi Provision the node. Usage: wifi-prov <ssid> [<passphrase>]", "",
        "sign-data ", "  sends some data and expects a rsa signed response", "",
    ]
}
