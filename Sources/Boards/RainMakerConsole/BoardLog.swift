// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO

/// Reads the lines of a RainMaker board's console and log.
///
/// Log lines are `I (1234) tag: text`, and lines that commands print `tag: text`. The texts are those of:
///
/// - esp-rainmaker (`esp_rmaker_commands.c`, `rmaker_console.c`, `app_network.c`, `app_wifi_internal.c`)
/// - the provisioning managers (`wifi_provisioning/src/manager.c` in ESP-IDF, `network_provisioning/src/manager.c`)
/// - ESP-IDF's `esp_netif_handlers`
/// - RainMaker's MQTT client (`esp_mqtt_glue.c`), and its code for boards without a certificate (`esp_rmaker_core.c`)
struct BoardLog: Sendable {
    /// The line after "Provisioning failed!" names the reason.
    private var expectsReason = false

    mutating func event(in line: [UInt8]) -> BoardEvent? {
        if BootLoader.says(line) {
            expectsReason = false
            return .restarted
        }
        if expectsReason, line.first == UInt8(ascii: "\t") {
            expectsReason = false
            return Self.failureReason(line)
        }
        guard let (tag, text) = Self.split(line) else { return nil }
        switch tag {
        case "esp_rmaker_commands":
            return Self.commandEvent(text)
        case "rmaker_console", "esp_rmaker_console":
            return Self.consoleEvent(text)
        case "network_prov_mgr", "wifi_prov_mgr":
            return Self.managerEvent(text)
        case "app_network", "app_wifi":
            expectsReason = text == "Provisioning failed!"
            return Self.applicationEvent(text)
        case "esp_mqtt_glue":
            return text.dropPrefix("Connecting to ").flatMap { Self.host($0) }.map { .connectingToCloud($0) }
        case "esp_rmaker_core":
            return text.hasPrefix("Node connected to Wi-Fi without Assisted claiming") ? .unclaimed : nil
        case "wifi": return Self.driverEvent(text)
        case "esp_netif_handlers":
            return text.dropPrefix("sta ip: ").flatMap { Self.address($0) }.map { .gotAddress($0) }
        default:
            return nil
        }
    }

    private static func commandEvent(_ text: String) -> BoardEvent? {
        if let id = text.dropPrefix("Node ID: ") {
            // Opaque text: a MAC address, 22 base-62 characters, or any text that a private deployment assigns.
            guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                return nil
            }
            return .nodeID(NodeID(String(id)))
        }
        switch text {
        case "Starting user-node mapping": return .mappingStarted
        case "Invalid Usage.": return .invalidUsage
        case "Failed to set WiFi configuration", "Failed to start WiFi", "Failed to connect WiFi":
            return .settingsRefused(.notReady)
        default: return nil
        }
    }

    private static func consoleEvent(_ text: String) -> BoardEvent? {
        if let number = text.dropPrefix("Console command failed with error: ") {
            return Int32(number).map { .commandFailed($0) }
        }
        return text.hasSuffix("Line discarded.") ? .lineDiscarded : nil
    }

    private static func managerEvent(_ text: String) -> BoardEvent? {
        if let number = text.dropPrefix("Disconnect reason : ") {
            return Int32(number).map { .disconnected(reason: $0) }
        }
        switch text {
        case "STA Auth Error": return .authenticationFailed
        case "STA AP Not found": return .networkNotFound
        case "Wi-Fi credentials already received by provisioning app": return .settingsRefused(.alreadyGiven)
        case "Provisioning manager not initialized", "Invalid state of Provisioning app", "Failed to set Wi-Fi mode",
            "Failed to set storage Wi-Fi", "Failed to set Wi-Fi configuration", "Failed to start Wi-Fi connect timer",
            "Failed to connect Wi-Fi":
            return .settingsRefused(.notReady)
        default: return nil
        }
    }

    private static func applicationEvent(_ text: String) -> BoardEvent? {
        if let address = text.dropPrefix("Connected with IP Address:") {
            return self.address(address).map { .gotAddress($0) }
        }
        return text == "Disconnected. Connecting to the AP again..." ? .retrying : nil
    }

    /// Reads `connected with NAME, aid = 1, channel 6, …`. A name that is not text is ignored.
    private static func driverEvent(_ text: String) -> BoardEvent? {
        guard let rest = text.dropPrefix("connected with ") else { return nil }
        let (bytes, end) = (Array(rest.utf8), Array(", aid = ".utf8))
        let starts = bytes.indices.dropLast(end.count - 1)
        guard let length = starts.last(where: { bytes[$0...].starts(with: end) }), length <= 32,
            !rest.unicodeScalars.contains("\u{FFFD}")
        else { return nil }
        return .associated(Array(bytes[..<length]))
    }

    private static func failureReason(_ line: [UInt8]) -> BoardEvent? {
        let text = String(decoding: line, as: UTF8.self)
        if text.hasSuffix("Wi-Fi station authentication failed") { return .provisioningFailed(.authentication) }
        return text.hasSuffix("Wi-Fi access-point not found") ? .provisioningFailed(.notFound) : nil
    }

    /// Returns the dotted IPv4 address at the beginning of a text.
    private static func address(_ text: Substring) -> String? {
        let digits = text.prefix { $0 == "." || $0.isASCII && $0.isWholeNumber }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts.allSatisfy({ $0.utf8.count <= 3 && UInt8($0) != nil }) else { return nil }
        return String(digits)
    }

    /// Returns the host's name or address at the beginning of a text, with or without a port.
    private static func host(_ text: Substring) -> String? {
        let isHost = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: "-.:[]".utf8.contains(byte)
            }
        }
        return isHost && (1...253).contains(text.utf8.count) ? String(text) : nil
    }

    /// Returns tag and text, without the level and the time of a log line.
    private static func split(_ line: [UInt8]) -> (tag: String, text: String)? {
        var rest = line[...]
        if let level = rest.first, "EWIDV".utf8.contains(level), rest.dropFirst().starts(with: " (".utf8),
            let end = rest.prefix(40).firstIndex(of: UInt8(ascii: ")"))
        {
            rest = rest[(end + 1)...].drop { $0 == UInt8(ascii: " ") }
        }
        guard let colon = rest.prefix(64).firstIndex(of: UInt8(ascii: ":")) else { return nil }
        var text = rest[(colon + 1)...]
        // The Wi-Fi driver's own lines have no space there.
        guard text.first == UInt8(ascii: " ") || rest[..<colon].elementsEqual("wifi".utf8) else { return nil }
        if text.first == UInt8(ascii: " ") { text.removeFirst() }
        while text.last == UInt8(ascii: " ") { text.removeLast() }
        return (String(decoding: rest[..<colon], as: UTF8.self), String(decoding: text, as: UTF8.self))
    }
}

extension String {
    fileprivate func dropPrefix(_ prefix: String) -> Substring? { hasPrefix(prefix) ? dropFirst(prefix.count) : nil }
}

/// A relevant event in the board's console or log. It never contains a line's text, because the board prints the mapping secret and the
/// Wi-Fi passphrase in clear.
enum BoardEvent: Sendable, Equatable {
    /// The answer to `get-node-id`.
    case nodeID(NodeID)
    /// `add-user` has accepted its arguments.
    case mappingStarted
    /// The command refused its arguments.
    case invalidUsage
    /// A command returned this `esp_err_t`.
    case commandFailed(Int32)
    /// The board dropped the line because it is too long or incomplete.
    case lineDiscarded
    /// The provisioning manager does not accept Wi-Fi settings now.
    case settingsRefused(Refusal)
    /// The station lost or did not get its connection, with this reason of `wifi_err_reason_t`.
    case disconnected(reason: Int32)
    /// The provisioning manager's result.
    case authenticationFailed
    case networkNotFound
    /// The application's result, which repeats an earlier one if the manager has none.
    case provisioningFailed(FailureReason)
    /// The station is connected to the network with this name, as far as the log can print it; it has no address yet.
    case associated([UInt8])
    /// The station has this IPv4 address.
    case gotAddress(String)
    /// Its MQTT client connects to this broker.
    case connectingToCloud(String)
    /// It is on Wi-Fi and has no certificate (`CONFIG_ESP_RMAKER_ASSISTED_CLAIM`), so it does not connect to the cloud.
    case unclaimed
    /// The board tries again by itself.
    case retrying
    /// The first line of the boot loader: the board was reset.
    case restarted

    enum Refusal: Sendable, Equatable {
        /// Earlier settings are being tried, or have failed.
        case alreadyGiven
        /// Provisioning is not running, or the radio failed.
        case notReady
    }

    enum FailureReason: Sendable, Equatable { case authentication, notFound }
}

/// Returns events from the log as they arrive, after those that were already read.
struct EventReader {
    private var waiting: ArraySlice<BoardEvent>
    private var transcript = ConsoleTranscript(command: [])
    private var log = BoardLog()

    init(_ events: [BoardEvent]) { waiting = events[...] }

    mutating func pending() -> BoardEvent? { waiting.popFirst() }

    mutating func append(_ bytes: [UInt8]) -> ConsoleFinding<BoardEvent>? {
        for (index, byte) in bytes.enumerated() {
            if case .line(let line) = transcript.append(byte), let event = log.event(in: line.text) {
                return ConsoleFinding(event, used: index + 1)
            }
        }
        return nil
    }
}

/// The events between the echo of a command and the prompt after it.
///
/// An unknown command prints nothing at all, and neither does a successful `wifi-prov`.
struct CommandReply: ConsoleReply {
    /// More than any command of this firmware prints.
    private static let maximumEvents = 64

    let command: [UInt8]
    private var transcript: ConsoleTranscript
    private var log = BoardLog()
    private var events: [BoardEvent] = []

    init(command: [UInt8]) {
        self.command = command
        transcript = ConsoleTranscript(command: command)
    }

    var outcomeIfRestIsLost: [BoardEvent]? { transcript.hasEarlyPrompt && !transcript.isEchoComplete ? events : nil }

    /// Whether bytes of the echo got lost.
    var isEchoCut: Bool { transcript.isEchoCut }

    static func isAtPrompt(after events: [BoardEvent]) -> Bool { !events.contains(.restarted) }

    mutating func append(_ byte: UInt8) -> [BoardEvent]? {
        switch transcript.append(byte) {
        case nil: return nil
        case .prompt: return events
        case .line(let line):
            let event = log.event(in: line.text)
            if event == .restarted { return [.restarted] }
            // Output between the parts of the echo is older than the command.
            if let event, !line.mayHoldEcho, events.count < Self.maximumEvents { events.append(event) }
            return nil
        }
    }
}
