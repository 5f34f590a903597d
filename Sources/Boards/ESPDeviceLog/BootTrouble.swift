// SPDX-License-Identifier: Apache-2.0

/// What the ROM, the boot loader and the power supply's guard complain of.
enum BootTrouble {
    static func of(_ reason: ResetReason) -> DeviceTrouble? {
        if reason.isDownload { return .downloadMode }
        return switch reason.number {
        case 0xF: .brownOut
        case 0x7, 0x8, 0x9, 0xB, 0xD, 0x10, 0x11: .watchdogReset
        default: nil
        }
    }

    /// - Parameter text: the line but for level and time.
    static func read(_ line: DeviceLogLine, _ text: String) -> DeviceTrouble? {
        if line.level == nil {
            if text.hasPrefix("waiting for download") { return .downloadMode }
            if text.hasPrefix("invalid header: 0x") || text.hasPrefix("flash read err") { return .emptyFlash }
            // Without a tag up to ESP-IDF 5.1 (`brownout.c`).
            return text.hasPrefix("Brownout detector was triggered") ? .brownOut : nil
        }
        guard line.level == .error else { return nil }
        let said = line.text
        switch line.tag {
        case "BOD": return said.hasPrefix("Brownout detector") ? .brownOut : nil
        case "esp_image":
            let isBad = said.behind("invalid magic byte") != nil || said.hasPrefix("Image hash failed")
            return isBad ? .noApplication(why: String(said.prefix(120))) : nil
        case "boot":
            let isBad = said.behind("is not bootable") != nil || said.hasPrefix("No bootable app partitions")
            return isBad ? .noApplication(why: String(said.prefix(120))) : nil
        case "flash_parts": return said.behind("exceeds flash chip size") != nil ? .flashTooSmall : nil
        case "spi_flash":
            return said.behind("smaller than the size in the binary image header") != nil ? .flashTooSmall : nil
        case "boot_comm":
            let isWrong = said.hasPrefix("chip revision check failed") || said.hasPrefix("mismatch chip ID")
            return isWrong ? .wrongChip(why: String(said.prefix(120))) : nil
        default: return nil
        }
    }
}

/// What the running application complains of (esp-rainmaker's `app_network.c`, `esp_rmaker_core.c`, `esp_claim.c`; ESP-IDF's `task_wdt.c`).
enum ApplicationTrouble {
    static func read(_ line: DeviceLogLine) -> DeviceTrouble? {
        let text = line.text
        switch line.tag {
        case "task_wdt": return text.hasPrefix("Task watchdog got triggered") ? .taskWatchdog : nil
        case "app_network", "app_wifi":
            if text.hasPrefix("Provisioning timed out") { return .provisioningTimedOut }
            return text.hasPrefix("Max PoP attempts reached") ? .proofsSpent : nil
        case "esp_rmaker_core":
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
