// SPDX-License-Identifier: Apache-2.0
import RainCore
import DeviceCore

/// `scli_task` of RainMaker's common console. It works byte by byte: CR or LF ends a line, backspace removes a byte, and a line that is too
/// long is discarded.
struct RainMakerConsoleInput: ConsoleInput {
    /// `SCLI_LINE_SIZE` without its NUL.
    private static let lineLimit = 255

    private var line: [UInt8] = []
    private var isTooLong = false
    private var backlog: ArraySlice<UInt8> = []
    private var output: [UInt8] = []
    /// The command whose echo is sent first.
    private var command: [[UInt8]]?
    private var isRunning = false

    /// The first line is read without a prompt.
    let greeting: [UInt8] = []

    mutating func receive(_ chunk: [UInt8]) {
        guard backlog.count + chunk.count <= ConsoleText.backlogLimit else { return }
        backlog += chunk
    }

    mutating func next() -> ConsoleStep? {
        guard !isRunning else { return nil }
        while command == nil, let byte = backlog.popFirst() {
            if byte == ConsoleText.carriageReturn || byte == ConsoleText.lineFeed { endLine() } else { take(byte) }
        }
        if !output.isEmpty {
            defer { output = [] }
            return .write(output)
        }
        guard let words = command else { return nil }
        command = nil
        isRunning = true
        return .run(words)
    }

    mutating func finish() {
        isRunning = false
        output += ConsoleText.prompt
    }

    private mutating func take(_ byte: UInt8) {
        output.append(byte)
        if byte == 0x08 {
            if !line.isEmpty { line.removeLast() }
        } else if line.count < Self.lineLimit {
            line.append(byte)
        } else {
            isTooLong = true
        }
    }

    private mutating func endLine() {
        defer {
            line = []
            isTooLong = false
        }
        // The echo of the line's end, and another line end "to go to the next line".
        output += ConsoleText.lineEnd + ConsoleText.lineEnd
        if isTooLong {
            output += Array("rmaker_console: Command longer than 255 characters. Line discarded.\r\n".utf8)
            output += ConsoleText.prompt
        } else if line.isEmpty {
            output += ConsoleText.prompt
        } else {
            command = CommandLine.words(line)
        }
    }
}

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
            // Its result is not checked.
            if !board.step({ $0.provision(credentials, now: MonotonicClock.now) }) {
                // While it stops, the manager has already received credentials; afterwards there is no manager.
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
                let digits = Hex.text(signature)
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

/// Splits a line into words like `esp_console_split_argv`: at spaces, with double quotes and backslashes.
enum CommandLine {
    /// `max_cmdline_args`, including the NULL at the end.
    static let wordLimit = 7

    private enum State { case space, word, quoted, escaped, quotedEscaped }

    static func words(_ line: some Sequence<UInt8>) -> [[UInt8]] {
        let quote = UInt8(ascii: "\"")
        let escape = UInt8(ascii: "\\")
        let space = UInt8(ascii: " ")
        var words: [[UInt8]] = []
        var word: [UInt8] = []
        var state = State.space
        func finish() {
            words.append(word)
            word = []
            state = .space
        }
        for byte in line {
            guard words.count < wordLimit, byte != 0 else { break }
            switch state {
            case .space:
                if byte == quote {
                    state = .quoted
                } else if byte == escape {
                    state = .escaped
                } else if byte != space {
                    state = .word
                    word.append(byte)
                }
            case .word:
                if byte == space { finish() } else if byte == escape { state = .escaped } else { word.append(byte) }
            case .quoted:
                if byte == quote {
                    finish()
                } else if byte == escape {
                    state = .quotedEscaped
                } else {
                    word.append(byte)
                }
            case .escaped, .quotedEscaped:
                // Any other character after a backslash is dropped together with it.
                if byte == escape || byte == quote || byte == space { word.append(byte) }
                state = state == .escaped ? .word : .quoted
            }
        }
        if state != .space, words.count < wordLimit { words.append(word) }
        return words
    }
}
