// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Reads the log of a board on an ESP chip line by line: the lines of its ROM, its boot loader, ESP-IDF, RainMaker and Arduino's libraries.
///
/// A value without a clock: the caller says when a line came. A line that is torn, or that only looks like one of these, has no effect.
public struct DeviceLogReader: Sendable {
    /// What is known so far.
    public private(set) var summary = DeviceSummary()
    private var crash = CrashReader()
    private var loops = BootLoopWatch()
    private var legibility = Legibility()
    private var checksum = ImageChecksum()
    /// A watchdog has restarted the chip, and the lines that follow may say why.
    private var hasWatchdogReset = false

    public init() {}

    /// - Parameters:
    ///   - line: without its end; terminal escapes may be in it.
    ///   - time: since any moment that does not change.
    /// - Returns: what it says, in order.
    public mutating func take(_ line: [UInt8], at time: Duration = .zero) -> [DeviceLogEvent] {
        if legibility.turnsUnreadable(line) { return [trouble(.unreadable)] }
        let parsed = DeviceLogLine(line)
        let text = parsed.whole
        if parsed.level != nil, !parsed.tag.isEmpty { summary.hasLog = true }
        if let restart = restart(text, at: time) { return restart }
        if parsed.level == .error { loops.lastError = BootTrouble.excerpt(text) }
        if let found = complaint(in: parsed, text) {
            hasWatchdogReset = false
            return [trouble(found)]
        }
        var events: [DeviceLogEvent] = []
        if parsed.level != nil {
            // The image in the flash runs.
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
        summary.restart()
        crash = CrashReader()
        checksum.restarted()
        guard let loop = loops.restarted(at: time) else { return before + [.restarted] }
        return before + [.restarted, trouble(loop)]
    }

    /// A watchdog's reset, unless something was found since that explains it.
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

    /// What sketches with Arduino's WiFiProv print themselves, without a level.
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
    /// What stands in the line but for level and time.
    var whole: String { tag.isEmpty ? text : "\(tag): \(text)" }
}

extension StringProtocol {
    /// What follows that beginning.
    func after(_ prefix: String) -> SubSequence? {
        let (bytes, wanted) = (utf8, prefix.utf8)
        guard bytes.starts(with: wanted) else { return nil }
        return self[bytes.index(bytes.startIndex, offsetBy: wanted.count)...]
    }

    /// What follows the first place where that stands. Bytes are compared, which is many times faster than characters: a board's log may
    /// come at 3 MB/s.
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
