// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit

/// The serial ports that boards are on.
extension Checkup {
    func ports() async -> [Finding] {
        let files = context.systemFiles
        let ports = SerialPort.available(in: files)
        guard !ports.isEmpty else { return [.ok("ports", "No board is plugged in.")] }
        var findings: [Finding] = []
        for port in ports where port.isLikelyBoard || ports.count == 1 {
            findings.append(Self.finding(about: port, in: files))
        }
        return findings.isEmpty
            ? [.ok("ports", "There are \(ports.count) serial ports, none of which looks like a board's.")] : findings
    }

    private static func finding(about port: SerialPortDescription, in files: SystemFiles) -> Finding {
        let path = port.path.onOneLine
        // Who holds a port is told without opening it, which would restart some boards.
        if let holder = SerialPort.holders(of: port.path, in: files).first {
            return holder.isModemManager
                ? .warn(
                    "ports", "modem_manager", "ModemManager holds \(path): it tries whether the board is a modem.",
                    fix: "sudo systemctl stop ModemManager")
                : .warn(
                    "ports", "busy", "\(path) is open in \(holder.name.onOneLine) (process \(holder.processID)).",
                    fix: "kill \(holder.processID)")
        }
        guard access(port.path, R_OK | W_OK) == 0 else {
            let advice = SerialPort.rightsAdvice(for: port.path)
            return .fail("ports", "port_denied", "\(path): \(advice.sentence)", fix: advice.command)
        }
        if SerialPort.isProbedForModem(port.path, in: files) {
            return .warn(
                "ports", "modem_manager",
                "ModemManager types into \(path) whenever the board is plugged in, to find out whether it is a modem.",
                fix: "sudo systemctl mask --now ModemManager")
        }
        return .ok("ports", "\(path) can be opened\(port.usb?.productName.map { " (\($0.onOneLine))" } ?? "").")
    }
}
