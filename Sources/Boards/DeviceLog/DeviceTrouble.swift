// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A problem of a board, found in its log. The patterns are texts of ESP-IDF and esp-rainmaker, cited where they are read.
public enum DeviceTrouble: Sendable, Equatable {
    /// The processor could not continue. The addresses are that of the instruction (`MEPC`) and of its caller (`RA`).
    case crash(reason: String, address: String?, caller: String?)
    /// The firmware ended itself: `abort()`, a failed assertion, a failed `ESP_ERROR_CHECK`. `after` is the first of the errors that it
    /// logged directly before that.
    case stopped(why: String, after: String? = nil)
    /// The firmware ended itself because memory was used up.
    case outOfMemory(why: String)
    /// The firmware ended itself because it uses PSRAM, and the board has none or it does not respond.
    case noPSRAM(why: String)
    /// A task has used more stack than it has.
    case stackOverflow(task: String)
    /// A task has not let others run for seconds. The board continues.
    case taskWatchdog
    /// The supply voltage fell.
    case brownOut
    /// A watchdog restarted the chip.
    case watchdogReset
    /// The flash is erased where the chip looks for its boot loader.
    case emptyFlash(Chip?)
    /// The flash contains something other than a boot loader there: its first four bytes as the ROM prints them.
    case invalidHeader(String, Chip?)
    /// The ROM could not read its flash.
    case unreadableFlash(Chip?)
    /// The image in the flash has a wrong checksum and does not start.
    case damagedImage(Chip?)
    /// Secure boot refuses the firmware.
    case secureBoot(why: String)
    /// The board runs firmware with this name, which has no provisioning service.
    case otherFirmware(String)
    /// No firmware with provisioning runs on this chip.
    case unsupportedChip(String)
    /// The device at the port is not a board.
    case otherDevice(String)
    /// The boot loader finds no application to start.
    case noApplication(why: String)
    /// The firmware was built for a larger flash than the board has.
    case flashTooSmall
    /// The firmware was built for another chip.
    case wrongChip(why: String)
    /// The firmware was built for another revision of the chip.
    case wrongRevision(why: String)
    /// The ROM waits for firmware over the cable.
    case downloadMode
    /// The board started three times within half a minute. `last` is the last error in its log, and `reset` is why it restarted.
    case bootLoop(last: String?, reset: ResetReason? = nil)
    /// The bytes that arrive are not text.
    case unreadable
    /// The time for provisioning is over.
    case provisioningTimedOut
    /// Too many wrong proofs of possession were sent.
    case proofsSpent
    /// The board's flash lacks the random bytes from which firmware makes the proof of possession.
    case noProof
    /// The board was put on Wi-Fi without the claim that its firmware waits for.
    case claimSkipped
    /// The firmware has no credentials for the cloud and does not claim them itself.
    case noCloudCredentials
    /// The board could not be claimed.
    case claimFailed
    /// The access point refused the board.
    case wifiRefused
    /// The TLS handshake with a server failed, with mbedTLS's error in hexadecimal such as `0x7780`.
    case handshakeFailed(error: String)
    /// The broker of the cloud refused the board's connection.
    case cloudRefused

    /// The code for programs.
    public var code: String {
        switch self {
        case .crash: "crash"
        case .stopped, .outOfMemory, .noPSRAM: "firmware_stopped"
        case .stackOverflow: "stack_overflow"
        case .taskWatchdog: "task_watchdog"
        case .brownOut: "brown_out"
        case .watchdogReset: "watchdog_reset"
        case .emptyFlash: "empty_flash"
        case .invalidHeader: "invalid_header"
        case .unreadableFlash: "unreadable_flash"
        case .damagedImage: "damaged_image"
        case .secureBoot: "secure_boot"
        case .otherFirmware: "other_firmware"
        case .unsupportedChip: "unsupported_chip"
        case .otherDevice: "not_a_board"
        case .noApplication: "no_application"
        case .flashTooSmall: "flash_too_small"
        case .wrongChip, .wrongRevision: "wrong_chip"
        case .downloadMode: "download_mode"
        case .bootLoop(_, let reset): reset?.isWatchdog == true ? "watchdog_reset" : "boot_loop"
        case .unreadable: "unreadable_log"
        case .provisioningTimedOut: "provisioning_timed_out"
        case .proofsSpent: "proofs_spent"
        case .noProof: "no_proof"
        case .claimSkipped: "claim_skipped"
        case .noCloudCredentials: "no_cloud_credentials"
        case .claimFailed: "claim_failed"
        case .wifiRefused: "wifi_authentication_failed"
        case .handshakeFailed: "tls"
        case .cloudRefused: "not_authorized"
        }
    }

    /// Whether no firmware for provisioning starts until somebody fixes this.
    public var isFatal: Bool {
        switch self {
        case .emptyFlash, .invalidHeader, .unreadableFlash, .damagedImage, .secureBoot, .noApplication, .flashTooSmall,
            .wrongChip, .wrongRevision, .downloadMode, .otherFirmware, .unsupportedChip, .otherDevice, .noProof,
            .bootLoop, .provisioningTimedOut, .proofsSpent, .unreadable:
            true
        default: false
        }
    }

    /// Whether the only finding is that the board starts again and again.
    public var isLoop: Bool { if case .bootLoop = self { true } else { false } }

    /// Whether this only reports that the board restarts, and another trouble may be the cause.
    var isRestart: Bool { isLoop || self == .watchdogReset }

    /// Whether this no longer applies once an application starts, from another partition or at another start.
    var endsWithApplication: Bool {
        switch self {
        case .emptyFlash, .invalidHeader, .unreadableFlash, .damagedImage, .secureBoot, .noApplication, .wrongChip,
            .wrongRevision, .downloadMode, .otherFirmware, .unreadable:
            true
        default: false
        }
    }

    /// Whether this is about a board that has its settings and runs. It does not explain why a board cannot be provisioned.
    package var isOfRunningBoard: Bool {
        switch self {
        case .wifiRefused, .handshakeFailed, .cloudRefused: true
        default: false
        }
    }

    /// Whether the board has ended its provisioning service. A restart starts it again.
    package var endsService: Bool { self == .provisioningTimedOut || self == .proofsSpent }
}

extension DeviceTrouble: CustomStringConvertible {
    /// The problem and what to try, in one to three sentences. ``remedies`` has the steps that a client can take.
    public var description: String {
        switch self {
        case .crash(let reason, let address, let caller):
            let places = [address.map { "at \($0)" }, caller.map { "called from \($0)" }].compactMap(\.self)
            let place = places.isEmpty ? "" : " " + places.joined(separator: ", ")
            return
                "The board's firmware crashed (\(reason)\(place)). This is a fault of the firmware: flash another version."
        case .stopped(let why, let cause):
            let what =
                cause.map { "The board's firmware stopped itself after the error \"\($0)\" (\(why))." }
                ?? "The board's firmware stopped itself: \(why)."
            if Self.isAboutSettings(why, cause) {
                return what
                    + " The settings in its flash (NVS) are incomplete, damaged or from other firmware. Erase the partition nvs or the "
                    + "whole flash, which also removes the board's claim. Then flash the firmware again."
            }
            // An address says nothing.
            let isUnexplained = cause == nil && why.after("abort() ") != nil
            return what + (isUnexplained ? " The log lines before this error show the reason." : "")
        case .outOfMemory(let why):
            return
                "The board's firmware ran out of memory and stopped itself (\(why)). Flash firmware that needs less memory, or use a chip with more."
        case .noPSRAM(let why):
            return
                "The firmware needs PSRAM, but the board has no PSRAM, or its PSRAM does not respond (\(why)). Build the firmware without PSRAM, or use a module with PSRAM."
        case .stackOverflow(let task):
            return
                "The board's firmware crashed: the task \(task) needs more stack than it has. Flash another version of the firmware."
        case .taskWatchdog:
            return
                "One task of the board's firmware keeps all other tasks from running. If the board does not continue, restart it."
        case .brownOut:
            return
                "The board's supply voltage fell. This often happens at the moment when Wi-Fi starts. Try a shorter cable, and another port or a hub with its own supply."
        case .watchdogReset:
            return "A watchdog restarted the board, because its firmware was stuck."
        case .emptyFlash(let chip):
            return
                "There is no firmware on the board: its flash is erased \(chip.placeOfBootLoader). Flash the firmware\(chip.withBootLoader)."
        case .invalidHeader("0x00000000", let chip):
            return
                "The board's flash reads as zeros \(chip.placeOfBootLoader). It was overwritten, or the flash chip does not respond. Flash the firmware again\(chip.withBootLoader)."
        case .invalidHeader(let header, let chip):
            return
                "The board's flash has no boot loader \(chip.placeOfBootLoader), but other data (\(header)). Perhaps the image was written to another address or is for another chip. Perhaps the image is encrypted and the flash is not, or the reverse. Flash the firmware again\(chip.withBootLoader)."
        case .unreadableFlash(let chip):
            return
                "The board cannot read a boot loader from its flash \(chip.placeOfBootLoader). Flash the firmware again\(chip.withBootLoader). If that does not help, the flash chip or its supply is faulty."
        case .damagedImage(let chip):
            return
                "The image in the board's flash is damaged: its checksum is wrong, and it does not start. Flash the firmware again\(chip.withBootLoader)."
        case .secureBoot(let why):
            return
                "Secure boot refuses the board's firmware, because its signature is missing or wrong (\(why)). Flash firmware that is signed with the key of this board."
        case .otherFirmware(let name):
            return
                "The board runs \(name), which cannot be provisioned. Flash firmware with RainMaker or ESP-IDF's network provisioning."
        case .unsupportedChip(let name):
            return "The board's chip is an \(name), which RainMaker does not support. Use a board with an ESP32."
        case .otherDevice(let name):
            return "The device at this port is not a board, but \(name)."
        case .noApplication(let why) where Self.isAboutPartitionTable(why):
            return
                "The board's partition table is missing or damaged (\(why)). Flash the partition table and the firmware."
        case .noApplication(let why):
            return "The board has no application that can be started (\(why)). Flash the firmware again."
        case .flashTooSmall:
            return
                "The firmware was built for a larger flash than this board has. Build the firmware for the board's flash size."
        case .wrongChip(let why):
            return "The firmware was built for another chip (\(why)). Build the firmware for this board's chip."
        case .wrongRevision(let why):
            return
                "The firmware was built for another revision of the board's chip (\(why)). Build the firmware for this revision, or use another board."
        case .downloadMode:
            return
                "The board waits for firmware, probably because its BOOT button was held. Release the button and press RESET, or unplug "
                + "the board and plug it in again."
        case .bootLoop(let last, let reset):
            let (what, advice) = reset.loop
            return what + (last.map { " (its last error: \($0))" } ?? "") + ". \(advice)"
        case .unreadable:
            return "The board's output is not text: its log does not use 115200 baud, or is binary."
        case .provisioningTimedOut:
            return
                "The board stopped provisioning, because its time limit was reached (30 minutes by default). Press its RESET button, and try again."
        case .proofsSpent:
            return
                "The board received too many wrong proofs of possession and stopped provisioning. Restart the board, and try again."
        case .noCloudCredentials:
            return
                "The board has no certificate for the cloud, and its firmware does not claim a certificate by itself."
        case .noProof:
            return
                "The board has no proof of possession: its firmware makes the proof from random bytes in the flash, and these bytes are missing. Claim the board: the claim writes these bytes."
        case .claimSkipped:
            return
                "The board was put on Wi-Fi without being claimed, and has no certificate for the cloud. Hold its BOOT button for 3 s so that it forgets the network, then set the board up again."
        case .claimFailed: return "The board could not get its certificate. Restart the board, and try again."
        case .wifiRefused:
            return
                "The access point refused the board, most likely because the board has a wrong Wi-Fi password. Make the board forget "
                + "its network, and set the board up again. If the password is right, move the board nearer to the access point."
        case .handshakeFailed(error: "0x7780"):
            return
                "The server refused the board's TLS connection (mbedTLS error -0x7780), most likely because it does not accept the "
                + "board's certificate. Check that the board was claimed for the deployment that its firmware connects to."
        case .handshakeFailed(error: "0x2700"):
            return
                "The board does not trust the server's certificate (mbedTLS error -0x2700). Check that the firmware has the "
                + "certificate authority of its cloud, and that the board's clock is right."
        case .handshakeFailed(error: let error):
            return
                "The board's TLS connection to a server failed (mbedTLS error -\(error)). Check that its network has internet access, "
                + "and that the firmware was built for this server."
        case .cloudRefused:
            return
                "The cloud refused the board's MQTT connection: the board is not authorized there. Its certificate may be revoked, or "
                + "may belong to another deployment. Claim the board for the deployment that its firmware connects to."
        }
    }
}

extension DeviceTrouble {
    /// Whether the boot loader cannot use the partition table (ESP-IDF's `flash_partitions.c` and `bootloader_utility.c`).
    static func isAboutPartitionTable(_ why: String) -> Bool {
        [
            "invalid magic number", "MD5 checksum", "no terminating entry", "verify partition table",
            "load partition table",
        ].contains { why.behind($0) != nil }
    }

    /// Whether firmware stopped because of ESP-IDF's non-volatile storage (`nvs.h`): its errors, or its own log.
    private static func isAboutSettings(_ why: String, _ cause: String?) -> Bool {
        [why, cause ?? ""].contains { $0.behind("ESP_ERR_NVS_") != nil } || cause?.after("nvs: ") != nil
    }

    /// Steps that a client can take.
    public var remedies: [Remedy] {
        switch self {
        case .noProof, .noCloudCredentials: [.claimOverCable]
        case .stopped, .outOfMemory, .noPSRAM, .watchdogReset, .bootLoop: [.boardLog]
        case .otherDevice: [.port([])]
        default: []
        }
    }
}

extension Chip? {
    /// Such as `at 0x0, where an ESP32-C3 looks for its boot loader`.
    fileprivate var placeOfBootLoader: String {
        guard let self else { return "where the chip looks for its boot loader" }
        guard let offset = self.bootLoaderOffset else { return "where the \(self.title) looks for its boot loader" }
        return "at \(offset), where an \(self.title) looks for its boot loader"
    }

    /// Such as `, the boot loader at 0x0`.
    fileprivate var withBootLoader: String { (self?.bootLoaderOffset).map { ", the boot loader at \($0)" } ?? "" }
}

extension ResetReason? {
    /// What a board does that restarts again and again for this reason, without a full stop, and what to try.
    fileprivate var loop: (what: String, advice: String) {
        switch self?.cause {
        case .watchdog(hasStarted: true):
            (
                "A watchdog restarts the board again and again, because its firmware is stuck",
                "Flash another version of the firmware."
            )
        case .watchdog(hasStarted: false):
            (
                "A watchdog restarts the board again and again, because its firmware does not start",
                "Flash the firmware again."
            )
        case .software:
            (
                "The board's firmware restarts itself again and again",
                "Flash the firmware again, or flash another version."
            )
        case .power:
            (
                "The board restarts again and again, because its power or clock is disturbed",
                "Try a shorter cable, and another port or a hub with its own supply."
            )
        case .host:
            (
                "The board is reset again and again over its USB port",
                "Close other programs that use the port."
            )
        case .other, nil:
            (
                "The board restarts again and again",
                "Try another cable and port, and flash its firmware again."
            )
        }
    }
}
