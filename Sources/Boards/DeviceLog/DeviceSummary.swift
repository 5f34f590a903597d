// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The facts about a board from its log since its last start. Proofs and passwords in it have types that cannot be printed.
public struct DeviceSummary: Sendable {
    /// The chip, such as `esp32c3` (`ESP-ROM:esp32c3-api1-20210207`).
    public var chip: String?
    /// The chip's revision, such as `v0.4`.
    public var revision: String?
    /// The station's address, printed by the Wi-Fi driver or used as the node id.
    public var macAddress: String?
    /// The version of ESP-IDF that the application was built with; the boot loader's if only that is known.
    public var frameworkVersion: String?
    /// The application's name; Espressif's examples are named after their folder, such as `led_light`.
    public var project: String?
    /// The application's version.
    public var version: String?
    /// Why the board started.
    public var reset: ResetReason?
    /// The board's id in the cloud.
    public var nodeID: NodeID?
    /// The name of the provisioning service, once it is running.
    public var serviceName: String?
    /// The content of its QR code.
    public var code: QRPayload?
    /// Why the QR code that it prints cannot be used, as a sentence.
    public var codeFault: String?
    /// The proof of possession that an application without a code printed.
    public var announcedProof: ProofOfPossession?
    /// The transport that the application printed; nil if it printed none.
    public var announcedTransport: QRPayload.Transport?
    /// The access point's password that the application printed.
    public var announcedPassphrase: Secret?
    /// Whether the board printed that it can be provisioned, but not under which name.
    public var isUnnamed = false
    /// Whether it has earlier Wi-Fi settings and starts no provisioning.
    public var isProvisioned = false
    /// Whether the application reads commands at its first UART (`rmaker_console`), which is not the chip's own USB.
    public var hasConsole = false
    /// The board's address on Wi-Fi.
    public var address: String?
    /// The host of its cloud.
    public var cloudHost: String?
    /// The troubles found, oldest first; at most the last eight. They are kept over a restart, because most of them cause one.
    public var troubles: [DeviceTrouble] = []
    /// The number of starts since listening began.
    public var starts = 0
    /// Whether a line arrived that only ESP-IDF's log contains.
    public var hasLog = false

    public init() {}

    /// The maximum number of ``troubles``.
    static let maximumTroubles = 8

    mutating func add(_ trouble: DeviceTrouble) {
        if trouble.endsService { serviceName = nil }
        guard troubles.last != trouble else { return }
        troubles.append(trouble)
        if troubles.count > Self.maximumTroubles { troubles.removeFirst() }
    }

    /// Removes troubles that prevented applications from starting.
    mutating func startApplication() { troubles.removeAll(where: \.endsWithApplication) }

    /// Removes facts that a restart changes.
    mutating func restart() {
        var fresh = DeviceSummary()
        fresh.troubles = troubles
        fresh.starts = starts + 1
        // The same board on the same port.
        fresh.macAddress = macAddress
        self = fresh
    }

    /// Whether any line came from an ESP chip or its firmware.
    public var isESP: Bool { starts > 0 || hasLog || serviceName != nil || isUnnamed || !troubles.isEmpty }

    /// Whether the board does not come up until somebody fixes something.
    public var isDown: Bool { serviceName == nil && troubles.contains(where: \.isFatal) }

    /// The trouble of a board that has not named its service: the last one that keeps it down. For a board that restarts again and again,
    /// it is the reason of the restarts, if it was heard.
    public var verdict: DeviceTrouble? {
        guard serviceName == nil else { return nil }
        let troubles = troubles.filter { !$0.isOfRunningBoard }
        if let fatal = troubles.last(where: { $0.isFatal && !$0.isLoop }) { return fatal }
        return troubles.last { !$0.isRestart } ?? troubles.last(where: \.isLoop) ?? troubles.last
            ?? (reset?.isWatchdog == true && project == nil && !isProvisioned && !isUnnamed ? .watchdogReset : nil)
    }
}

extension DeviceSummary {
    /// The board's description of itself.
    public var identity: PrintedIdentity {
        var identity = PrintedIdentity()
        identity.chip = chip
        identity.revision = revision
        identity.macAddress = macAddress
        identity.application = project
        identity.applicationVersion = version
        identity.framework = frameworkVersion
        identity.startReason = reset?.words
        identity.serviceName = serviceName
        identity.isProvisioned = isProvisioned
        identity.address = address
        return identity
    }
}

extension DeviceSummary {
    /// Reads facts about the board itself from a line (ESP-IDF's `bootloader_init.c`, `esp_app_desc.c`; esp-rainmaker's
    /// `esp_rmaker_node.c`).
    mutating func learn(from line: DeviceLogLine) {
        let text = line.text
        switch line.tag {
        case "boot":
            if let version = text.after("ESP-IDF ") { frameworkVersion = version.firstWord ?? frameworkVersion }
            if let found = text.after("chip revision: ") { revision = found.firstWord }
        case "app_init", "cpu_start":
            if let name = text.after("Project name:") { project = name.firstWord }
            if let found = text.after("App version:") { version = found.firstWord }
            if let found = text.after("ESP-IDF:") { frameworkVersion = found.firstWord ?? frameworkVersion }
        case "rmaker_console", "esp_rmaker_console":
            if text.hasPrefix("Initialising UART") { hasConsole = true }
        case "esp_rmaker_node", "esp_rmaker_core":
            if let id = (text.after("Node ID ----- ") ?? text.after("New Node ID ----- "))?.firstWord,
                id.utf8.count <= 64
            {
                nodeID = NodeID(id)
                if Self.isAddress(id) { macAddress = Self.withColons(id) }
            }
        case "esp_mqtt_glue":
            if let host = text.after("Connecting to ")?.firstWord, host.utf8.count <= 253 { cloudHost = host }
        case "wifi":
            // The driver's own lines, such as `mode : sta (7c:df:a1:00:00:01) + softAP (7c:df:a1:00:00:02)`.
            if let address = text.behind("sta (")?.prefix(17), address.count == 17,
                Self.isAddress(address.filter { $0 != ":" })
            {
                macAddress = address.uppercased()
            }
        default: break
        }
    }

    private static func isAddress(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 12 && text.allSatisfy { $0.isHexDigit && $0.isASCII }
    }

    private static func withColons(_ digits: String) -> String {
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, index.isMultiple(of: 2) { text.append(":") }
            text.append(digit)
        }
        return text.uppercased()
    }
}

extension StringProtocol {
    /// The first word, at most 64 characters.
    fileprivate var firstWord: String? {
        split(separator: " ", maxSplits: 1).first.map { String($0.prefix(64)) }
    }
}

/// Why the chip started, from a line of its ROM: `rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)`.
///
/// The numbers after `rst:` have the same meaning on all chips that print them (`esp_rom/…/rom/rtc.h`). The strapping bits have not, so the
/// words after them decide.
public struct ResetReason: Sendable, Equatable {
    /// The number after `rst:`.
    public var number: Int
    /// The strapping pins after `boot:`; nil if the line does not show them.
    public var straps: Int?
    /// The ROM's word for the strapping pins, such as `SPI_FAST_FLASH_BOOT`; nil if it is missing or incomplete.
    public var mode: String?

    public init(number: Int, straps: Int?, mode: String? = nil) {
        self.number = number
        self.straps = straps
        self.mode = mode
    }

    /// - Parameter line: the result is nil unless the line begins like the ROM's.
    public init?(_ line: String) {
        guard let rest = line.after("rst:0x"), let number = Self.hexadecimal(rest) else { return nil }
        self.number = number
        guard let boot = line.behind(",boot:0x") else { return }
        straps = Self.hexadecimal(boot)
        // The word may contain brackets: `(DOWNLOAD(USB/UART0/1))`.
        guard let word = boot.behind("("), word.utf8.last == UInt8(ascii: ")") else { return }
        mode = String(word.dropLast().prefix(64))
    }

    /// Whether the ROM waits for new firmware instead of starting the application, because the BOOT button was held or its pin is low.
    ///
    /// - Parameter chip: decides which bit is the BOOT button's, for a line without a word. If it is nil, such a line returns false.
    public func isDownload(on chip: Chip?) -> Bool {
        // `DOWNLOAD(USB/UART0/1)`, `DOWNLOAD_BOOT(UART0/…)`, `SPI_DOWNLOAD_BOOT`, `UART_BOOT(SDIO)`, `SDIO_REI_FEO_V1_BOOT`.
        if let mode {
            return mode.behind("DOWNLOAD") != nil || mode.after("UART_BOOT") != nil || mode.after("SDIO_") != nil
        }
        guard let chip, let straps else { return false }
        return straps & chip.bootButton == 0
    }

    /// What restarted the chip.
    enum Cause {
        /// A watchdog, because the software was stuck, or had not started in time.
        case watchdog(hasStarted: Bool)
        case software, power
        /// A program on the host, or a debugger.
        case host
        case other
    }

    var cause: Cause {
        switch number {
        case 0x3, 0xC: .software
        case 0x7, 0x8, 0xB, 0x11: .watchdog(hasStarted: true)
        case 0x9, 0xD, 0x10: .watchdog(hasStarted: false)
        case 0xF, 0x12, 0x13, 0x17: .power
        case 0x15, 0x16: .host
        default: .other
        }
    }

    /// Whether a watchdog restarted the chip.
    var isWatchdog: Bool { if case .watchdog = cause { true } else { false } }

    /// The reason as a text.
    public var words: String {
        switch number {
        case 0x1: "power on, or the reset button"
        case 0x3, 0xC: "restarted by its software"
        case 0x5: "woke up from deep sleep"
        case 0x7, 0x8, 0xB, 0x11: "a watchdog found that the software was stuck"
        case 0x9, 0xD, 0x10: "a watchdog found that the software did not start"
        case 0xF: "its supply voltage fell"
        case 0x12, 0x13, 0x17: "its power or clock was disturbed"
        case 0x14: "its eFuses are damaged"
        case 0x15: "reset over its USB port"
        case 0x16: "reset by a debugger"
        default: "reset, for reason \(number)"
        }
    }

    private static func hexadecimal(_ text: Substring) -> Int? {
        Int(text.prefix { $0.isHexDigit }.prefix(8), radix: 16)
    }
}

/// A chip of the ESP32 family, by the name in its ROM's log, such as `esp32c3`. Its properties decide what a boot log means.
public struct Chip: Sendable, Hashable {
    /// The name that the ROM prints, such as `esp32c3`.
    public let name: String

    public init(_ name: String) { self.name = name }

    /// The name that its maker writes, such as `ESP32-C3`.
    public var title: String {
        let family = "esp32"
        guard let rest = name.after(family), !rest.isEmpty else { return name.uppercased() }
        return "ESP32-\(rest.uppercased())"
    }

    /// Where the ROM looks for the boot loader in the flash (esptool's `BOOTLOADER_FLASH_OFFSET`); nil for an unknown chip.
    public var bootLoaderOffset: String? {
        switch name {
        case "esp32", "esp32s2": "0x1000"
        case "esp32c2", "esp32c3", "esp32s3", "esp32c6", "esp32c61", "esp32h2": "0x0"
        case "esp32c5", "esp32p4": "0x2000"
        default: nil
        }
    }

    /// The bit after `boot:` that is clear while the BOOT button is held: GPIO0 on an ESP32, and bit 3 on all later chips (esptool's
    /// boot-mode-selection.rst).
    var bootButton: Int { name == "esp32" ? 0x10 : 0x08 }

    /// Finds the chip in a ROM's first line: `ESP-ROM:esp32c3-api1-20210207`. The ROM of an ESP32 does not name itself and prints `ets Jul
    /// 29 2019 12:21:46`.
    init?(firstLine line: String) {
        if let rest = line.after("ESP-ROM:") {
            self.init(rest.split(separator: "-").first.map { String($0.prefix(16)) } ?? "")
            return
        }
        guard let rest = line.after("ets ") else { return nil }
        let words = rest.split(separator: " ")
        // An ESP8266 continues in the same line: `…2013,rst cause:2, boot mode:(3,6)`.
        guard words.count == 4, words[0].utf8.count == 3, words[3].split(separator: ":").count == 3 else { return nil }
        self.init("esp32")
    }
}
