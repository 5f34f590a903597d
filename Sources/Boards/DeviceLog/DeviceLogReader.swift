// SPDX-License-Identifier: Apache-2.0
import Protocomm
import RainCore
import RainIO

/// Reads the log of a board with an ESP chip line by line: the lines of its ROM, its boot loader, ESP-IDF, RainMaker and Arduino's
/// libraries.
///
/// It is a value without a clock: the caller passes the time of each line. A torn line, or one that only resembles these, has no effect.
public struct DeviceLogReader: Sendable {
    /// The facts found so far.
    public private(set) var summary = DeviceSummary()
    private var crash = CrashReader()
    private var loops = BootLoopWatch()
    private var legibility = Legibility()
    private var checksum = ImageChecksum()
    /// A watchdog has restarted the chip, and the following lines may explain why.
    private var hasWatchdogReset = false
    /// Since the chip's start the boot loader has printed why it rejects an image.
    private var hasRefusedImage = false

    public init() {}

    /// Examines a line that has become long without an end.
    ///
    /// - Returns: its events, in order; usually none.
    mutating func take(unfinished line: [UInt8]) -> [DeviceLogEvent] {
        legibility.turnsUnreadable(unfinished: line) ? [trouble(.unreadable)] : []
    }

    /// - Parameters:
    ///   - line: without its end; may contain terminal escapes.
    ///   - time: since any fixed moment.
    /// - Returns: the line's events, in order.
    public mutating func take(_ line: [UInt8], at time: Duration = .zero) -> [DeviceLogEvent] {
        if legibility.turnsUnreadable(line) { return [trouble(.unreadable)] }
        let parsed = DeviceLogLine(line)
        let text = parsed.whole
        if parsed.level != nil, !parsed.tag.isEmpty { summary.hasLog = true }
        if let restart = restart(text, at: time) { return restart }
        if parsed.level == .error { loops.lastError = BootTrouble.excerpt(text) }
        crash.note(parsed)
        if let found = complaint(in: parsed, text) {
            hasWatchdogReset = false
            // The boot loader prints this after each image that it rejected.
            if BootTrouble.isConsequence(parsed), hasRefusedImage || summary.troubles.last == .flashTooSmall {
                return []
            }
            if parsed.level != nil, found.endsWithApplication { hasRefusedImage = true }
            return [trouble(found)]
        }
        var events: [DeviceLogEvent] = []
        if parsed.level != nil {
            // The image in the flash is running.
            checksum.applicationStarted()
            events += watchdogReset()
        }
        summary.learn(from: parsed)
        if let event = event(in: parsed) { events.append(event) }
        if parsed.text.hasPrefix("Project name:"), let name = OtherFirmware.name(ofProject: summary.project ?? "") {
            events.append(trouble(.otherFirmware(name)))
        }
        return events
    }

    private mutating func complaint(in line: DeviceLogLine, _ text: String) -> DeviceTrouble? {
        let chip = summary.chip.map(Chip.init)
        if let found = crash.trouble(in: text) ?? BootTrouble.read(line, text, on: chip)
            ?? ApplicationTrouble.read(line)
        {
            return found
        }
        guard line.level == nil else { return nil }
        if checksum.isDamaged(text, after: summary.reset) { return .damagedImage(chip) }
        if OtherFirmware.isESP8266(text) { return .unsupportedChip("ESP8266") }
        if let device = OtherFirmware.device(text) { return .otherDevice(device) }
        // RainMaker's firmware may have such a console, too.
        guard summary.nodeID == nil, !summary.isProvisioned else { return nil }
        return OtherFirmware.name(of: text).map { .otherFirmware($0) }
    }

    private mutating func restart(_ text: String, at time: Duration) -> [DeviceLogEvent]? {
        if let chip = Chip(firstLine: text) {
            let before = begin(at: time)
            summary.chip = chip.name.isEmpty ? nil : chip.name
            return before
        }
        guard let reason = ResetReason(text) else { return nil }
        // The ROM's first line may have been lost.
        let isNew = summary.starts == 0 || summary.reset != nil
        var events = isNew ? begin(at: time) : []
        summary.reset = reason
        if reason.isDownload(on: summary.chip.map(Chip.init)) { events.append(trouble(.downloadMode)) }
        if reason.number == 0xF { events.append(trouble(.brownOut)) }
        hasWatchdogReset = reason.isWatchdog
        return events
    }

    private mutating func begin(at time: Duration) -> [DeviceLogEvent] {
        let before = watchdogReset()
        let reset = summary.reset
        summary.restart()
        crash = CrashReader()
        hasRefusedImage = false
        checksum.restarted()
        guard let loop = loops.restarted(at: time, after: reset) else { return before + [.restarted] }
        return before + [.restarted, trouble(loop)]
    }

    /// Reports a watchdog's reset, unless a later line explained it.
    private mutating func watchdogReset() -> [DeviceLogEvent] {
        guard hasWatchdogReset else { return [] }
        hasWatchdogReset = false
        return [trouble(.watchdogReset)]
    }

    private mutating func trouble(_ trouble: DeviceTrouble) -> DeviceLogEvent {
        summary.add(trouble)
        return .trouble(trouble)
    }

    private mutating func event(in line: DeviceLogLine) -> DeviceLogEvent? {
        switch PrintedCode.read(line) {
        case .code(let payload)?:
            summary.code = payload
            summary.serviceName = summary.serviceName ?? payload.name
            return .code(payload)
        case .faulty(let sentence)?:
            summary.codeFault = sentence
            return nil
        case nil: break
        }
        if let found = PrintedCode.announcement(in: line) {
            summary.serviceName = found.name
            summary.announcedProof = found.proof
            summary.announcedTransport = found.transport
            summary.announcedPassphrase = found.passphrase
            return .announced(name: found.name, proof: found.proof)
        }
        if let event = arduino(line) { return event }
        let text = line.text
        switch line.tag {
        case "network_prov_mgr", "wifi_prov_mgr":
            guard let name = text.after("Provisioning started with service name : "), PrintedCode.isName(name) else {
                return nil
            }
            summary.serviceName = String(name)
            return .provisioningStarted(name: String(name))
        case "app_network", "app_wifi", "app":
            return application(text)
        case "esp_netif_handlers":
            return text.after("sta ip: ").flatMap { joined($0) }
        case "app_init" where text.hasPrefix("Project name:"), "cpu_start" where text.hasPrefix("Project name:"):
            summary.startApplication()
            return .applicationStarted
        default: return nil
        }
    }

    private mutating func application(_ text: String) -> DeviceLogEvent? {
        if text.hasPrefix("Already provisioned") {
            summary.isProvisioned = true
            return .alreadyProvisioned
        }
        if text == "Secured session established!" { return .sessionEstablished }
        return text.after("Connected with IP Address:").flatMap { joined($0) }
    }

    /// Reads lines that sketches with Arduino's WiFiProv print themselves, without a level.
    private mutating func arduino(_ line: DeviceLogLine) -> DeviceLogEvent? {
        let text = line.whole
        // The library's own line, `[  1234][I][WiFiProv.cpp:190] beginProvision(): Already Provisioned`.
        if text.behind("beginProvision(): Already Provisioned") != nil {
            summary.isProvisioned = true
            return .alreadyProvisioned
        }
        if text.hasPrefix("Give Credentials of your access point") {
            summary.isUnnamed = true
            return .unnamedProvisioning
        }
        return text.after("Connected IP address : ").flatMap { joined($0) }
    }

    private mutating func joined(_ text: Substring) -> DeviceLogEvent? {
        let address = String(text.prefix { $0 == "." || $0.isASCII && $0.isWholeNumber })
        let parts = address.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts.allSatisfy({ $0.utf8.count <= 3 && UInt8($0) != nil }) else { return nil }
        summary.address = address
        return .joined(address: address)
    }
}

extension DeviceLogLine {
    /// The line without level and time.
    var whole: String { tag.isEmpty ? text : "\(tag): \(text)" }
}

extension StringProtocol {
    /// Returns the text after that prefix; nil without the prefix.
    func after(_ prefix: String) -> SubSequence? {
        let (bytes, wanted) = (utf8, prefix.utf8)
        guard bytes.starts(with: wanted) else { return nil }
        return self[bytes.index(bytes.startIndex, offsetBy: wanted.count)...]
    }

    /// Returns the text after the first occurrence of `mark`. Compares bytes, which is many times faster than characters: a board's log may
    /// arrive at 3 MB/s.
    func behind(_ mark: String) -> SubSequence? {
        let (bytes, wanted) = (utf8, mark.utf8)
        guard let first = wanted.first else { return self[...] }
        var start = bytes.startIndex
        while let found = bytes[start...].firstIndex(of: first) {
            if bytes[found...].starts(with: wanted) { return self[bytes.index(found, offsetBy: wanted.count)...] }
            start = bytes.index(after: found)
        }
        return nil
    }
}

/// One line of a board's output: a log line of ESP-IDF, or any other text.
///
/// ESP-IDF writes `I (1234) tag: text`. Its configuration may omit the time, the tag or both (`esp_log_format.h`, `log_format_text.c`). A
/// line that an application prints itself has no level.
public struct DeviceLogLine: Sendable, Equatable {
    /// The importance of a line, with ESP-IDF's letter for it.
    public enum Level: String, Sendable {
        /// The letter at the beginning of the line.
        case error = "E", warning = "W", info = "I", debug = "D", verbose = "V"
    }

    /// Nil if the line is not from ESP-IDF's log.
    public var level: Level?
    /// The part of the firmware that logs, such as `app_wifi`; empty if the line names none.
    public var tag: String
    /// The text, without spaces at its end.
    public var text: String

    /// - Parameter line: without its end. Terminal escapes are removed, and bytes that are not UTF-8 are replaced.
    public init(_ line: [UInt8]) {
        var rest = removingTerminalEscapes(line)[...]
        level = Self.level(&rest)
        if level != nil { Self.skipTime(&rest) }
        tag = Self.tag(&rest)
        while rest.last == UInt8(ascii: " ") { rest.removeLast() }
        text = String(decoding: rest, as: UTF8.self)
    }

    private static func level(_ rest: inout ArraySlice<UInt8>) -> Level? {
        guard let first = rest.first, rest.dropFirst().first == UInt8(ascii: " "),
            let level = Level(rawValue: String(UnicodeScalar(first)))
        else { return nil }
        rest = rest.dropFirst(2)
        return level
    }

    /// Skips `(1234) ` or `(12:34:56.789) `, if the text begins with it.
    private static func skipTime(_ rest: inout ArraySlice<UInt8>) {
        guard rest.first == UInt8(ascii: "("), let end = rest.prefix(40).firstIndex(of: UInt8(ascii: ")")) else {
            return
        }
        rest = rest[(end + 1)...].drop { $0 == UInt8(ascii: " ") }
    }

    private static func tag(_ rest: inout ArraySlice<UInt8>) -> String {
        guard let colon = rest.prefix(64).firstIndex(of: UInt8(ascii: ":")),
            rest[colon...].dropFirst().first == UInt8(ascii: " "), rest.first != UInt8(ascii: "\t"),
            colon > rest.startIndex
        else { return "" }
        defer { rest = rest[(colon + 2)...] }
        return String(decoding: rest[..<colon], as: UTF8.self)
    }
}

/// The text of the QR code in firmware's output, in the forms of esp-rainmaker's examples and ESP-IDF's own.
enum PrintedCode {
    /// The pages that show a code: RainMaker's (`app_network.c`), and ESP-IDF's for its wifi_prov example. Other pages, such as HomeKit's,
    /// are not about provisioning.
    private static let pages = [
        "https://rainmaker.espressif.com/qrcode.html?data=",
        "https://espressif.github.io/esp-jumpstart/qrcode.html?data=",
    ]

    enum Reading {
        case code(QRPayload)
        /// A board's code with an unusable member, and the message about it.
        case faulty(String)
    }

    /// Reads the line; returns nil for a line that only appears to contain a code.
    static func read(_ line: DeviceLogLine) -> Reading? {
        let whole = line.whole
        var text: Substring?
        if let code = line.text.after("Provisioning QR : ") {
            text = code
        } else if pages.contains(where: { whole.hasPrefix($0) }) {
            text = whole[...]
        }
        guard let text else { return nil }
        do throws(BoardError) {
            let payload = try QRPayload(Array(text.utf8))
            return isName(payload.name) ? .code(payload) : nil
        } catch {
            // Any other error comes from a torn line, or from another project's code.
            return error.cause == nil ? nil : .faulty(error.message)
        }
    }

    /// The name and proof that an application prints without a code.
    struct Announcement {
        let name: String
        var proof: ProofOfPossession?
        var transport: QRPayload.Transport?
        /// The password of the board's access point.
        var passphrase: Secret?
    }

    /// Returns the name and proof of a line that announces them, as in applications from before August 2024 and in Arduino sketches.
    static func announcement(in line: DeviceLogLine) -> Announcement? {
        let found = application(line.text) ?? sketch(line.whole) ?? library(line.whole)
        return found.flatMap { isName($0.name) ? $0 : nil }
    }

    /// Reads `Provisioning Started. Name : PROV_a1b2c3, POP : abcd1234`; `<null>` means that there is no proof.
    private static func application(_ text: String) -> Announcement? {
        guard let rest = text.after("Provisioning Started. Name : "), let proof = rest.behind(", POP : ") else {
            return nil
        }
        let name = rest.dropLast(proof.count + ", POP : ".count)
        return Announcement(name: String(name), proof: self.proof(proof))
    }

    /// Reads `Provisioning Started with name "PROV_1234" and PoP "abcd1234" on SoftAP`, from the RainMaker examples of arduino-esp32.
    private static func sketch(_ text: String) -> Announcement? {
        guard let rest = text.after("Provisioning Started with name \""), let behind = rest.behind("\" and PoP \"")
        else { return nil }
        let name = rest.dropLast(behind.count + "\" and PoP \"".count)
        guard let on = behind.behind("\" on ") else { return nil }
        let proof = behind.dropLast(on.count + "\" on ".count)
        return Announcement(
            name: String(name), proof: self.proof(proof), transport: on.hasPrefix("SoftAP") ? .softap : .ble)
    }

    /// Reads a line of arduino-esp32's WiFiProv library: `[ 123][I][WiFiProv.cpp:147] beginProvision(): Starting provisioning AP using
    /// SOFTAP. service_name : PROV_1, password : p, pop : x`.
    private static func library(_ text: String) -> Announcement? {
        guard let rest = text.behind(" using BLE. service_name : ") ?? text.behind(" using SOFTAP. service_name : "),
            let proof = rest.behind(", pop : ")
        else { return nil }
        let middle = rest.dropLast(proof.count + ", pop : ".count)
        var found = Announcement(name: String(middle), proof: self.proof(proof), transport: .ble)
        guard text.behind(" using SOFTAP. ") != nil else { return found }
        found.transport = .softap
        guard let password = middle.behind(", password : ") else { return found }
        let name = middle.dropLast(password.count + ", password : ".count)
        return Announcement(
            name: String(name), proof: found.proof, transport: .softap, passphrase: Secret(String(password)))
    }

    /// Returns the proof. `printf` writes `(null)` for a null pointer, and older applications write `<null>`.
    private static func proof(_ text: Substring) -> ProofOfPossession? {
        text == "<null>" || text == "(null)" || text.isEmpty ? nil : ProofOfPossession(String(text))
    }

    /// Whether this name can be advertised and displayed.
    static func isName(_ text: some StringProtocol) -> Bool {
        (1...32).contains(text.utf8.count) && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}
