// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a board, by its log. The patterns are ESP-IDF's and esp-rainmaker's own words, cited where they are read.
public enum DeviceTrouble: Sendable, Equatable {
    /// The processor met something that it cannot go on from, at that address (`MEPC`), called from the other (`RA`).
    case crash(reason: String, address: String?, caller: String?)
    /// The firmware ended itself: `abort()`, a failed assertion, a failed `ESP_ERROR_CHECK`.
    case stopped(why: String)
    /// A task has used more stack than it has.
    case stackOverflow(task: String)
    /// A task has not let others run for seconds. The board goes on.
    case taskWatchdog
    /// The supply voltage fell.
    case brownOut
    /// A watchdog restarted the chip.
    case watchdogReset
    /// The flash is erased where the chip looks for its boot loader.
    case emptyFlash(Chip?)
    /// The flash holds something else than a boot loader there: its first four bytes as the ROM prints them.
    case invalidHeader(String, Chip?)
    /// The ROM could not read its flash.
    case unreadableFlash(Chip?)
    /// The image in the flash does not have its checksum, and does not start.
    case damagedImage(Chip?)
    /// Secure boot refuses the firmware.
    case secureBoot(why: String)
    /// The board runs firmware of that name, which has no provisioning service.
    case otherFirmware(String)
    /// The chip is one that no firmware with provisioning runs on.
    case unsupportedChip(String)
    /// Another device than a board prints at the port.
    case otherDevice(String)
    /// The boot loader finds no application that it can start.
    case noApplication(why: String)
    /// The firmware was built for a larger flash than the board has.
    case flashTooSmall
    /// The firmware was built for another chip, or another revision of it.
    case wrongChip(why: String)
    /// The ROM waits for firmware over the cable.
    case downloadMode
    /// Three starts in half a minute.
    case bootLoop(last: String?)
    /// What comes is no text.
    case unreadable
    /// The time in which the board can be provisioned is over.
    case provisioningTimedOut
    /// Too many wrong proofs of possession were tried.
    case proofsSpent
    /// The board's flash has no random bytes, of which firmware makes the proof of possession.
    case noProof
    /// The board was put on Wi-Fi without the claim that its firmware waits for.
    case claimSkipped
    /// The firmware has no credentials for the cloud and does not claim them itself.
    case noCloudCredentials
    /// It could not be claimed.
    case claimFailed

    /// A word for programs.
    public var code: String {
        switch self {
        case .crash: "crash"
        case .stopped: "firmware_stopped"
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
        case .wrongChip: "wrong_chip"
        case .downloadMode: "download_mode"
        case .bootLoop: "boot_loop"
        case .unreadable: "unreadable_log"
        case .provisioningTimedOut: "provisioning_timed_out"
        case .proofsSpent: "proofs_spent"
        case .noProof: "no_proof"
        case .claimSkipped: "claim_skipped"
        case .noCloudCredentials: "no_cloud_credentials"
        case .claimFailed: "claim_failed"
        }
    }

    /// Whether no firmware that could be provisioned comes up until somebody fixes this.
    public var isFatal: Bool {
        switch self {
        case .emptyFlash, .invalidHeader, .unreadableFlash, .damagedImage, .secureBoot, .noApplication, .flashTooSmall,
            .wrongChip, .downloadMode, .otherFirmware, .unsupportedChip, .otherDevice, .noProof, .bootLoop,
            .provisioningTimedOut, .proofsSpent,
            .unreadable:
            true
        default: false
        }
    }

    /// Whether it is only that the board starts again and again.
    public var isLoop: Bool { if case .bootLoop = self { true } else { false } }

    /// Whether it is over once an application starts, from another partition or another start than the one that failed.
    var endsWithApplication: Bool {
        switch self {
        case .emptyFlash, .invalidHeader, .unreadableFlash, .damagedImage, .secureBoot, .noApplication, .wrongChip,
            .downloadMode, .otherFirmware:
            true
        default: false
        }
    }
}
