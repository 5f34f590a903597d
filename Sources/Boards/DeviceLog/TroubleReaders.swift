// SPDX-License-Identifier: Apache-2.0

/// Reads errors of the ROM, the boot loader and the brownout detector.
enum BootTrouble {
    /// - Parameters:
    ///   - text: the line without level and time.
    ///   - chip: nil if its ROM's first line was lost.
    static func read(_ line: DeviceLogLine, _ text: String, on chip: Chip?) -> DeviceTrouble? {
        if line.level == nil { return rom(text, on: chip) }
        guard line.level == .error else { return nil }
        let said = line.text
        switch line.tag {
        case "BOD": return said.hasPrefix("Brownout detector") ? .brownOut : nil
        case "esp_image":
            if isSignature(said) { return .secureBoot(why: excerpt(said)) }
            let marks = ["invalid magic byte", "Image hash failed", "Checksum failed", "image corrupted", "is corrupt"]
            return marks.contains { said.behind($0) != nil } ? .noApplication(why: excerpt(said)) : nil
        case "secure_boot", "secure_boot_v1", "secure_boot_v2":
            return isSignature(said) || said.behind("don't match") != nil ? .secureBoot(why: excerpt(said)) : nil
        case "boot":
            let isBad = said.behind("is not bootable") != nil || said.hasPrefix("No bootable app partitions")
            return isBad || reportsTable(said) ? .noApplication(why: excerpt(said)) : nil
        case "flash_parts":
            if said.behind("exceeds flash chip size") != nil { return .flashTooSmall }
            return DeviceTrouble.isAboutPartitionTable(said) ? .noApplication(why: excerpt(said)) : nil
        case "spi_flash":
            return said.behind("smaller than the size in the binary image header") != nil ? .flashTooSmall : nil
        case "boot_comm":
            // `bootloader_common_loader.c` of ESP-IDF 4 to 6.
            if said.hasPrefix("mismatch chip ID") { return .wrongChip(why: excerpt(said)) }
            let marks = [
                "chip revision check failed", "Image requires chip rev", "Image requires efuse blk rev",
                "can't run on lower chip revision",
            ]
            return marks.contains { said.hasPrefix($0) } ? .wrongRevision(why: excerpt(said)) : nil
        default: return nil
        }
    }

    /// Whether the line only reports that no image was left to start, without the reason.
    static func isConsequence(_ line: DeviceLogLine) -> Bool {
        line.tag == "boot"
            && (line.text.behind("is not bootable") != nil || line.text.hasPrefix("No bootable app partitions")
                || reportsTable(line.text))
    }

    /// Whether the boot loader reports that it cannot use the partition table (`bootloader_utility.c`). `flash_parts` has the reason.
    private static func reportsTable(_ text: String) -> Bool {
        text.hasPrefix("Failed to verify partition table") || text.hasPrefix("load partition table error")
    }

    /// Reads a line of the ROM (esptool's boot-mode-selection.rst, and reports of secure boot). The brownout detector's line has no tag
    /// either, up to ESP-IDF 5.1 (`brownout.c`).
    private static func rom(_ text: String, on chip: Chip?) -> DeviceTrouble? {
        if text.hasPrefix("waiting for download") { return .downloadMode }
        if let rest = text.after("invalid header: 0x") {
            let header = rest.prefix { $0.isHexDigit }.lowercased()
            // A torn line does not contain all bytes that were read.
            guard header.utf8.count == 8 else { return nil }
            return header == "ffffffff" ? .emptyFlash(chip) : .invalidHeader("0x\(header)", chip)
        }
        if text.hasPrefix("flash read err") { return .unreadableFlash(chip) }
        if text.hasPrefix("csum err:") { return .damagedImage(chip) }
        if isSignature(text) { return .secureBoot(why: excerpt(text)) }
        return text.hasPrefix("Brownout detector was triggered") ? .brownOut : nil
    }

    /// Whether the line reports that secure boot rejects an image.
    private static func isSignature(_ text: String) -> Bool {
        // Most lines end the search here.
        guard ["ecure boot", "ignature", "Sig block"].contains(where: { text.behind($0) != nil }) else { return false }
        let lower = text.lowercased()
        let marks = [
            "secure boot verification failed", "secure boot check fail", "secure boot v2 verification failed",
            "image not v2 signed", "signature verification failed", "no signatures were found", "sig block 0 invalid",
            "no signature block magic byte",
        ]
        return marks.contains { lower.behind($0) != nil }
    }

    /// Returns the part of a line that a message quotes, without secrets.
    static func excerpt(_ text: String) -> String { String(LogMask.text(Array(text.utf8)).prefix(120)) }
}

/// Recognises an image that the ROM finds damaged and cannot start.
///
/// The ROM only prints that the checksum is wrong, and continues (`Attempting to boot anyway...`). An image whose header was changed on
/// purpose looks the same and works. So the checksum counts only if a watchdog ended the previous start, or if two consecutive starts have
/// it and no application starts.
struct ImageChecksum: Sendable {
    private var failedStarts = 0
    private var failedNow = false

    mutating func restarted() {
        if !failedNow { failedStarts = 0 }
        failedNow = false
    }

    /// Whether this line shows that the image is damaged.
    mutating func isDamaged(_ text: String, after reset: ResetReason?) -> Bool {
        guard text.hasPrefix("SHA-256 comparison failed"), !failedNow else { return false }
        failedNow = true
        failedStarts += 1
        return failedStarts > 1 || reset?.isWatchdog == true
    }

    mutating func applicationStarted() { (failedStarts, failedNow) = (0, false) }
}

/// Reads errors of the running application (esp-rainmaker's `app_network.c`, `app_wifi.c`, `esp_rmaker_core.c`, `esp_claim.c`; ESP-IDF's
/// `task_wdt.c`, `esp_tls_mbedtls.c`, `mqtt_client.c`, the managers of provisioning).
enum ApplicationTrouble {
    static func read(_ line: DeviceLogLine) -> DeviceTrouble? {
        let text = line.text
        switch line.tag {
        case "task_wdt": return text.hasPrefix("Task watchdog got triggered") ? .taskWatchdog : nil
        // Printed by examples that handle this event.
        case "app_main": return isTimeout(text) ? .provisioningTimedOut : nil
        case "app_network", "app_wifi":
            if isTimeout(text) { return .provisioningTimedOut }
            if text.hasPrefix("Failed to get PoP from NVS") || text.hasPrefix("Failed to read random bytes from NVS") {
                return .noProof
            }
            return text.hasPrefix("Max PoP attempts reached") ? .proofsSpent : nil
        case "esp_rmaker_core":
            if text.hasPrefix("Node connected to Wi-Fi without Assisted claiming") { return .claimSkipped }
            let hasNone =
                text.hasPrefix("Failed to initialise Node Id.") || text.hasPrefix("Failed to initialise MQTT Params.")
            return hasNone ? .noCloudCredentials : nil
        case "esp_claim":
            let hasFailed = text.hasPrefix("Claim Init Sequence Failed") || text.hasPrefix("Claim Verify Failed")
            return hasFailed ? .claimFailed : nil
        case "network_prov_mgr", "wifi_prov_mgr": return text.hasPrefix("STA Auth Error") ? .wifiRefused : nil
        case "esp-tls-mbedtls":
            guard let rest = text.after("mbedtls_ssl_handshake returned -") else { return nil }
            let error = rest.prefix { $0 == "x" || $0.isHexDigit }.lowercased()
            return (3...10).contains(error.utf8.count) ? .handshakeFailed(error: error) : nil
        case "mqtt_client":
            let isRefusal = ["not authorized", "bad username or password"]
                .contains { text.hasPrefix("Connection refused, \($0)") }
            return isRefusal ? .cloudRefused : nil
        // The Wi-Fi library's tag `wifi` has no space after its colon.
        case "": return line.level != nil && isUnfinishedHandshake(text) ? .wifiRefused : nil
        default: return nil
        }
    }
}

extension ApplicationTrouble {
    /// Whether the Wi-Fi library left the network because the handshake with the access point did not finish (reason 15), as in
    /// `wifi:state: run -> init (0xf00)`. The reason is in the second byte; older versions write `(f00)`.
    private static func isUnfinishedHandshake(_ text: String) -> Bool {
        guard let rest = text.after("wifi:state: run -> init (") else { return false }
        let number = rest.prefix { $0 != ")" }
        return (Int(number.after("0x") ?? number, radix: 16) ?? 0) >> 8 == 15
    }

    private static func isTimeout(_ text: String) -> Bool { text.lowercased().hasPrefix("provisioning timed out") }
}

/// Reads the output of a panic (ESP-IDF's `panic.c`, `riscv/panic_arch.c`, `xtensa/panic_arch.c`): the reason, and from the first row of
/// registers the address and the caller (`MEPC` and `RA`; on Xtensa chips `PC` and `A0`).
struct CrashReader: Sendable {
    private var reason: String?
    /// Whether the firmware has ended itself since its start. Later output, such as `abort()` after a failed check, is a consequence.
    private var hasStopped = false
    /// The errors that were logged consecutively, with nothing else between them.
    private var errors: [String] = []

    /// Records a line of the log. A chain of errors ends with the next line that is not an error.
    mutating func note(_ line: DeviceLogLine) {
        guard line.level == .error else {
            if line.level != nil { errors = [] }
            return
        }
        if errors.count < 16 { errors.append(BootTrouble.excerpt(line.whole)) }
    }

    /// Returns a trouble once it is complete. If no registers follow a reason, it is returned a few lines later.
    mutating func trouble(in text: String) -> DeviceTrouble? {
        if let found = stop(in: text) {
            reason = nil
            defer { hasStopped = true }
            return hasStopped ? nil : found
        }
        if let rest = text.after("Guru Meditation Error: "), let said = rest.behind("panic'ed (") {
            reason = said.split(separator: ")").first.map { BootTrouble.excerpt(String($0.prefix(64))) } ?? "unknown"
            return nil
        }
        guard let reason else { return nil }
        for (place, caller) in [("MEPC", "RA"), ("PC", "A0")] where text.hasPrefix("\(place) ") {
            self.reason = nil
            return .crash(
                reason: reason, address: Self.register(place, in: text), caller: Self.register(caller, in: text))
        }
        if let task = text.after("Detected in task \"")?.split(separator: "\"").first {
            self.reason = nil
            return .stackOverflow(task: String(task.prefix(32)))
        }
        // The end of the output, without registers.
        guard text.hasPrefix("Rebooting...") || text.hasPrefix("ELF file SHA256") else { return nil }
        self.reason = nil
        return .crash(reason: reason, address: nil, caller: nil)
    }

    /// Reads a line in which the firmware ends itself on purpose.
    private func stop(in text: String) -> DeviceTrouble? {
        if text.hasPrefix("abort() was called at PC ") || text.hasPrefix("assert failed: ")
            || text.hasPrefix("ESP_ERROR_CHECK failed: ")
        {
            return stopped(BootTrouble.excerpt(text))
        }
        guard let rest = text.after("***ERROR*** A stack overflow in task ") else { return nil }
        return .stackOverflow(task: rest.split(separator: " ").first.map { String($0.prefix(32)) } ?? "?")
    }

    /// Returns the trouble with its cause, if the errors before it name one.
    private func stopped(_ why: String) -> DeviceTrouble {
        if let found = errors.first(where: { error in
            ["PSRAM", "SPI RAM", "external RAM"].contains { error.behind($0) != nil }
        }) {
            return .noPSRAM(why: found)
        }
        let lacksMemory = (errors + [why]).contains { error in
            let lower = error.lowercased()
            return ["malloc failed", "err_no_mem", "out of memory", "no memory", "alloc failed"]
                .contains { lower.behind($0) != nil }
        }
        return lacksMemory ? .outOfMemory(why: errors.first ?? why) : .stopped(why: why, after: errors.first)
    }

    /// Reads a register from a row such as `MEPC    : 0x42001234  RA      : 0x42001230  …`.
    private static func register(_ name: String, in row: String) -> String? {
        let words = row.split(separator: " ")
        guard let index = words.firstIndex(of: Substring(name)), index + 2 < words.count, words[index + 1] == ":",
            words[index + 2].hasPrefix("0x"), words[index + 2].count <= 10
        else { return nil }
        return String(words[index + 2])
    }
}

/// Recognises firmware without a provisioning service by its output at the start.
enum OtherFirmware {
    /// Beginnings of a line, without level and time.
    private static let beginnings = [
        ("MicroPython v", "MicroPython"), ("MPY: ", "MicroPython"), (">>>", "MicroPython or CircuitPython"),
        ("Adafruit CircuitPython ", "CircuitPython"),
        ("at param mode:", espAT), ("AT cmd port:", espAT), ("module_name:", espAT), ("AT version:", espAT),
        ("max tx power=", espAT),
        ("*** Booting Zephyr OS", "Zephyr"), ("NuttShell (NSH)", "NuttX"), ("NodeMCU ", "NodeMCU"),
        ("WLED ", "WLED"), ("---WLED ", "WLED"),
        ("This is an example of ESP-IDF console component", consoleExample),
    ]
    /// Texts in the middle of a line, without level and time.
    private static let marks = [
        (" Tasmota Version ", "Tasmota"), (" Project tasmota", "Tasmota"), (" ESPHome version ", "ESPHome"),
        (" espruino.com", "Espruino"), ("//\\ E S H T /\\ S T / C", "Meshtastic"),
    ]
    /// Whole lines.
    private static let lines = [
        "WIFI DISCONNECT": espAT, "WIFI CONNECTED": espAT, "WIFI GOT IP": espAT,
        // The greeting of Adalight's protocol, which WLED prints at its start.
        "Ada": "WLED, or other firmware for LED strips",
    ]
    /// Beginnings of lines that firmware for other devices prints.
    private static let devices = [
        ("echo:Marlin ", "Marlin, the firmware of a 3D printer"),
        ("FIRMWARE_NAME:Marlin", "Marlin, the firmware of a 3D printer"),
        ("Grbl ", "Grbl, the firmware of a machine tool"),
    ]
    /// Names of applications (`app_init: Project name:`).
    private static let projects = [
        "hello_world": helloWorld, "hello-world": helloWorld, "blink": "ESP-IDF's example blink", "esp-at": espAT,
        "micropython": "MicroPython", "circuitpython": "CircuitPython", "console": consoleExample, "wled": "WLED",
        "meshtastic": "Meshtastic",
    ]
    private static let espAT = "Espressif's AT firmware (ESP-AT)"
    private static let helloWorld = "ESP-IDF's example hello_world"
    private static let consoleExample = "ESP-IDF's console example, or firmware that was made from it"

    static func name(of text: String) -> String? {
        if let found = beginnings.first(where: { text.hasPrefix($0.0) }) { return found.1 }
        // `This is esp32c3 chip with 1 CPU core(s), WiFi/BLE, silicon revision v0.4, 2MB external flash`
        if let rest = text.after("This is esp32"), rest.behind(" chip with ") != nil { return helloWorld }
        if let found = lines[text] { return found }
        if isESPHome(text) { return "ESPHome" }
        if isMeshtastic(text) { return "Meshtastic" }
        if isConsolePrompt(text) { return consoleExample }
        return marks.first { text.behind($0.0) != nil }?.1
    }

    /// Whether this is a line of ESPHome's log, such as `[C][wifi:409]: WiFi:`. Arduino's log has no colon after the second bracket.
    private static func isESPHome(_ text: String) -> Bool {
        guard let level = text.after("[")?.first, "EWICDV".contains(level), let rest = text.after("[\(level)]["),
            let end = rest.firstIndex(of: "]"), rest[end...].after("]: ") != nil
        else { return false }
        let parts = rest[..<end].split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && Int(parts[1]) != nil
    }

    /// Whether this is a line of Meshtastic's log, such as `INFO  | 12:34:56 7 [Power] USB`; `??:??:??` before it knows the time.
    private static func isMeshtastic(_ text: String) -> Bool {
        guard let level = ["DEBUG | ", "INFO  | ", "WARN  | ", "ERROR | "].first(where: { text.hasPrefix($0) }),
            let rest = text.after(level)
        else { return false }
        let words = rest.split(separator: " ", maxSplits: 2)
        let time = (words.first ?? "").split(separator: ":")
        return words.count > 1 && time.count == 3 && time.allSatisfy { $0 == "??" || Int($0) != nil }
            && Int(words[1]) != nil
    }

    /// Whether the line begins with the prompt of ESP-IDF's console example: the name of the chip and `> `, such as `esp32c3> `.
    private static func isConsolePrompt(_ text: String) -> Bool {
        guard let rest = text.after("esp32") else { return false }
        let prompt = rest.prefix { $0 != ">" }
        return prompt.utf8.count <= 3 && prompt.allSatisfy { $0.isLetter || $0.isNumber } && rest.count > prompt.count
    }

    /// Returns the name of a device that is not a board, from the beginning of a line.
    static func device(_ text: String) -> String? { devices.first { text.hasPrefix($0.0) }?.1 }

    /// Whether the line is the first one of an ESP8266's ROM: ` ets Jan  8 2013,rst cause:2, boot mode:(3,6)`.
    static func isESP8266(_ text: String) -> Bool {
        text.behind("ets Jan  8 2013,rst cause:") != nil
    }

    static func name(ofProject project: String) -> String? { projects[project] }
}

/// Detects a board that restarts again and again: three starts within half a minute.
struct BootLoopWatch: Sendable {
    static let starts = 3
    static let span = Duration.seconds(30)

    /// The last error in the board's log, without secrets.
    var lastError: String?
    private var times: [Duration] = []

    /// - Parameter reset: why the previous start happened. That of this start is in a later line.
    mutating func restarted(at time: Duration, after reset: ResetReason?) -> DeviceTrouble? {
        times = times.suffix(Self.starts - 1).filter { time - $0 <= Self.span } + [time]
        guard times.count == Self.starts else { return nil }
        return .bootLoop(last: lastError.map { String($0.prefix(120)) }, reset: reset)
    }
}

/// Detects bytes that are not text, because of another baud rate or a binary log. Such bytes seldom contain line ends, so an unfinished
/// line counts too.
struct Legibility: Sendable {
    /// The number of consecutive bytes that are examined. If more than a third of them are not text, the output is unreadable.
    static let sample = 512
    private var bytes = 0
    private var strange = 0
    private var isTold = false

    mutating func turnsUnreadable(_ line: [UInt8]) -> Bool {
        bytes += line.count
        strange += Self.strangeBytes(in: line, isText: String(validating: line, as: UTF8.self) != nil)
        guard bytes >= Self.sample else { return false }
        defer { (bytes, strange) = (0, 0) }
        return settles(strange * 3 > bytes)
    }

    /// Does the same for a line that has not ended yet.
    mutating func turnsUnreadable(unfinished line: [UInt8]) -> Bool {
        guard line.count >= Self.sample else { return false }
        // A character may be cut at the end.
        let isText = (0...3).contains { String(validating: line.dropLast($0), as: UTF8.self) != nil }
        return settles(Self.strangeBytes(in: line, isText: isText) * 3 > line.count)
    }

    private mutating func settles(_ isUnreadable: Bool) -> Bool {
        defer { isTold = isUnreadable }
        return isUnreadable && !isTold
    }

    /// Block characters of a printed QR code are UTF-8; bytes at another baud rate seldom are.
    private static func strangeBytes(in line: [UInt8], isText: Bool) -> Int {
        line.lazy.filter { byte in
            byte < 0x20 ? byte != 0x09 && byte != 0x1B : byte == 0x7F || byte >= 0x80 && !isText
        }.count
    }
}
