// SPDX-License-Identifier: Apache-2.0

extension DeviceTrouble: CustomStringConvertible {
    /// One or two sentences: what the log says, and what to try.
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
            return "A watchdog restarted the board, since its firmware was stuck."
        case .emptyFlash:
            return "There is no firmware where the chip looks for it. Flash it again, the boot loader at 0x0."
        case .noApplication(let why):
            return "The board has no application that can be started (\(why)). Flash it again."
        case .flashTooSmall:
            return "The firmware was built for a larger flash than this board has. Build it for the board's flash size."
        case .wrongChip(let why): return "The firmware was built for another chip (\(why)). Build it for this one."
        case .downloadMode:
            return
                "The board waits for firmware, as its BOOT button was held. Release it and press RESET, or plug the board in anew."
        case .bootLoop(let last):
            return "The board restarts again and again" + (last.map { "; the last that it said: \($0)" } ?? "")
                + ". Try another cable and port, and flash its firmware again."
        case .unreadable:
            return "What the board prints is no text: its log has another speed than 115200 baud, or is binary."
        case .provisioningTimedOut:
            return "The time in which the board can be set up is over. Restart it, and run this again."
        case .proofsSpent:
            return
                "The board was given too many wrong proofs of possession and stopped listening. Restart it, and run this again."
        case .noCloudCredentials:
            return
                "The board has no certificate for the cloud, and its firmware does not claim one by itself: claim it with esp-rainmaker-cli claim."
        case .claimFailed: return "The board could not get its certificate. Restart it, and run this again."
        }
    }
}
