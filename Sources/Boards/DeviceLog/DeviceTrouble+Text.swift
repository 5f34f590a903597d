// SPDX-License-Identifier: Apache-2.0
import RainCore

extension DeviceTrouble: CustomStringConvertible {
    /// What the log says and what to try, in one to three sentences. ``remedies`` has what a client can do.
    public var description: String {
        switch self {
        case .crash(let reason, let address, let caller):
            let places = [address.map { "at \($0)" }, caller.map { "called from \($0)" }].compactMap(\.self)
            let place = places.isEmpty ? "" : " " + places.joined(separator: ", ")
            return
                "The board's firmware crashed (\(reason)\(place)). This is a fault of the firmware: flash another version of it."
        case .stopped(let why):
            return "The board's firmware stopped itself: \(why). The lines before it in the log say why."
        case .stackOverflow(let task):
            return
                "The board's firmware crashed: the task \(task) needs more stack than it has. Flash another version of it."
        case .taskWatchdog:
            return
                "A task of the board's firmware keeps the others from running. If the board does not go on, restart it."
        case .brownOut:
            return
                "The board's supply voltage fell, often at the moment when Wi-Fi starts. Try a shorter cable, and another port or a hub with its own supply."
        case .watchdogReset:
            return "A watchdog restarted the board, because its firmware was stuck."
        case .emptyFlash(let chip):
            return
                "There is no firmware on the board: its flash is erased \(chip.placeOfBootLoader). Flash the firmware\(chip.withBootLoader)."
        case .invalidHeader("0x00000000", let chip):
            return
                "The board's flash reads as zeros \(chip.placeOfBootLoader). It was overwritten, or its chip does not answer: flash the firmware again\(chip.withBootLoader)."
        case .invalidHeader(let header, let chip):
            return
                "The board's flash has no boot loader \(chip.placeOfBootLoader), but other data (\(header)). Either an image was written to another address or for another chip, or the flash is encrypted and the image is not, or the reverse. Flash the firmware again\(chip.withBootLoader)."
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
            return "The board's chip is an \(name), on which RainMaker does not run. Use a board with an ESP32."
        case .otherDevice(let name):
            return "What prints at this port is not a board: it is \(name)."
        case .noApplication(let why):
            return "The board has no application that can be started (\(why)). Flash it again."
        case .flashTooSmall:
            return "The firmware was built for a larger flash than this board has. Build it for the board's flash size."
        case .wrongChip(let why): return "The firmware was built for another chip (\(why)). Build it for this one."
        case .downloadMode:
            return
                "The board waits for firmware, because its BOOT button was held. Release it and press RESET, or unplug the board and plug it in again."
        case .bootLoop(let last):
            return "The board restarts again and again" + (last.map { " (its last error: \($0))" } ?? "")
                + ". Try another cable and port, and flash its firmware again."
        case .unreadable:
            return "What the board prints is not text: its log has another speed than 115200 baud, or is binary."
        case .provisioningTimedOut:
            return "The time in which the board can be set up is over. Restart it, and run this again."
        case .proofsSpent:
            return
                "The board was given too many wrong proofs of possession and stopped listening. Restart it, and run this again."
        case .noCloudCredentials:
            return "The board has no certificate for the cloud, and its firmware does not claim one by itself."
        case .noProof:
            return
                "The board has no proof of possession: its flash lacks the random bytes that firmware makes it of, which a claim writes."
        case .claimSkipped:
            return
                "The board was put on Wi-Fi without being claimed, and has no certificate for the cloud. Hold its BOOT button for 3 s so that it forgets the network, and set it up again."
        case .claimFailed: return "The board could not get its certificate. Restart it, and run this again."
        }
    }
}

extension DeviceTrouble {
    /// What a client can do about it.
    public var remedies: [Remedy] {
        switch self {
        case .noProof, .noCloudCredentials: [.claimOverCable]
        case .stopped, .bootLoop: [.boardLog]
        case .otherDevice: [.port([])]
        default: []
        }
    }
}

extension Chip? {
    /// `at 0x0, where an ESP32-C3 looks for its boot loader`
    fileprivate var placeOfBootLoader: String {
        guard let self else { return "where the chip looks for its boot loader" }
        guard let offset = self.bootLoaderOffset else { return "where the \(self.title) looks for its boot loader" }
        return "at \(offset), where an \(self.title) looks for its boot loader"
    }

    /// `, the boot loader at 0x0`
    fileprivate var withBootLoader: String { (self?.bootLoaderOffset).map { ", the boot loader at \($0)" } ?? "" }
}
