// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// The lines DTR and RTS of the console's port, which a pseudo-terminal does not have: a FIFO `.NAME.lines` beside the port NAME.
///
/// Each digit in it sets both lines: 0 for none, 1 for DTR, 2 for RTS, 3 for both. RTS alone holds the chip in reset, as on boards (esptool's
/// documentation, "Boot Mode Selection"). So `printf 20` into the FIFO presses the button RESET.
final class SimulatedModemLines {
    let descriptor: Int32
    private let path: String
    private var isHeld = false

    init(beside port: String) throws {
        let name = port.split(separator: "/").last ?? ""
        path = "\(port.dropLast(name.count)).\(name).lines"
        // An earlier run may have left its own.
        unlink(path)
        guard mkfifo(path, 0o600) == 0 else { throw StartError("\(path) cannot be created: \(systemErrorText(errno))") }
        // Also open for writing, so that it never ends.
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw StartError("\(path) cannot be opened: \(systemErrorText(errno))") }
    }

    /// Reads what was written, and returns whether the chip was released from its reset.
    func releasesReset() -> Bool {
        var digits = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &digits, digits.count)
        var isReleased = false
        for digit in digits.prefix(max(count, 0)) {
            let holds = digit == UInt8(ascii: "2")
            if isHeld, !holds { isReleased = true }
            isHeld = holds
        }
        return isReleased
    }

    func remove() {
        unlink(path)
        close(descriptor)
    }
}
