// SPDX-License-Identifier: Apache-2.0

/// Reads the complaints of the ROM, the boot loader and the brownout detector.
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
            return isBad ? .noApplication(why: excerpt(said)) : nil
        case "flash_parts": return said.behind("exceeds flash chip size") != nil ? .flashTooSmall : nil
        case "spi_flash":
            return said.behind("smaller than the size in the binary image header") != nil ? .flashTooSmall : nil
        case "boot_comm":
            let isWrong = said.hasPrefix("chip revision check failed") || said.hasPrefix("mismatch chip ID")
            return isWrong ? .wrongChip(why: excerpt(said)) : nil
        default: return nil
        }
    }

    /// What a ROM prints (esptool's boot-mode-selection.rst, and reports of secure boot); without a tag also the brownout detector up to
    /// ESP-IDF 5.1 (`brownout.c`).
    private static func rom(_ text: String, on chip: Chip?) -> DeviceTrouble? {
        if text.hasPrefix("waiting for download") { return .downloadMode }
        if let rest = text.after("invalid header: 0x") {
            let header = rest.prefix { $0.isHexDigit }.lowercased()
            // A torn line does not say what was read.
            guard header.utf8.count == 8 else { return nil }
            return header == "ffffffff" ? .emptyFlash(chip) : .invalidHeader("0x\(header)", chip)
        }
        if text.hasPrefix("flash read err") { return .unreadableFlash(chip) }
        if text.hasPrefix("csum err:") { return .damagedImage(chip) }
        if isSignature(text) { return .secureBoot(why: excerpt(text)) }
        return text.hasPrefix("Brownout detector was triggered") ? .brownOut : nil
    }

    /// Whether the line says that secure boot refuses an image.
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

    /// As much of a line as a message quotes, without secrets.
    static func excerpt(_ text: String) -> String { String(LogMask.text(Array(text.utf8)).prefix(120)) }
}

/// Recognises an image that the ROM finds damaged and cannot start.
///
/// Only a wrong checksum is printed, and the ROM goes on (`Attempting to boot anyway...`). An image whose header was changed on purpose
/// looks the same and works, so the checksum counts if a watchdog had ended the start before, or if two starts in a row have it and no
/// application came.
struct ImageChecksum: Sendable {
    private var failedStarts = 0
    private var failedNow = false

    mutating func restarted() {
        if !failedNow { failedStarts = 0 }
        failedNow = false
    }

    /// Whether the line settles it.
    mutating func isDamaged(_ text: String, after reset: ResetReason?) -> Bool {
        guard text.hasPrefix("SHA-256 comparison failed"), !failedNow else { return false }
        failedNow = true
        failedStarts += 1
        return failedStarts > 1 || reset?.isWatchdog == true
    }

    mutating func applicationStarted() { (failedStarts, failedNow) = (0, false) }
}

/// Reads the complaints of the running application (esp-rainmaker's `app_network.c`, `app_wifi.c`, `esp_rmaker_core.c`, `esp_claim.c`;
/// ESP-IDF's `task_wdt.c`).
enum ApplicationTrouble {
    static func read(_ line: DeviceLogLine) -> DeviceTrouble? {
        let text = line.text
        switch line.tag {
        case "task_wdt": return text.hasPrefix("Task watchdog got triggered") ? .taskWatchdog : nil
        case "app_network", "app_wifi":
            if text.hasPrefix("Provisioning timed out") { return .provisioningTimedOut }
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
        default: return nil
        }
    }
}
