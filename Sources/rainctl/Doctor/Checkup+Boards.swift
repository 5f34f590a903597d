// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit

/// The ways to boards: serial ports, Bluetooth, Wi-Fi, services on the network.
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

    func bluetooth() async -> [Finding] {
        guard let error = await Self.fault(of: "ble", context) else {
            return [.ok("bluetooth", "Bluetooth can be used.")]
        }
        let reason = error.reason ?? "unavailable"
        let message = error.message.asSentence + Self.hint(reason)
        switch reason {
        case "no_adapter":
            return [.warn("bluetooth", reason, message, fix: "bluetoothctl list")]
        case "powered_off":
            return [Finding.warn("bluetooth", reason, message).repaired(by: ["bluetoothctl", "power", "on"])]
        case "blocked": return [.warn("bluetooth", reason, message, fix: "rfkill unblock bluetooth")]
        case "no_bluez":
            return [
                .warn(
                    "bluetooth", reason, message, fix: "sudo apt install bluez && sudo systemctl enable --now bluetooth"
                )
            ]
        case "access_denied": return [.warn("bluetooth", reason, message, fix: "sudo usermod -aG bluetooth $USER")]
        case "no_bus": return [.warn("bluetooth", reason, message, fix: Self.busFix)]
        default: return [.warn("bluetooth", reason, message, fix: "systemctl status bluetooth")]
        }
    }

    func wifi() async -> [Finding] {
        guard let error = await Self.fault(of: "softap", context) else {
            return [.ok("wifi", "Boards' own networks can be joined through NetworkManager.")]
        }
        let reason = error.reason ?? "unavailable"
        let message =
            "Boards' own networks cannot be joined from here, and have to be joined by hand: \(error.message.asSentence)"
            + Self.hint(reason)
        switch reason {
        case "no_network_manager":
            return [
                .warn(
                    "wifi", reason, message,
                    fix: "sudo apt install network-manager && sudo systemctl enable --now NetworkManager")
            ]
        case "wifi_off":
            return [Finding.warn("wifi", reason, message).repaired(by: ["nmcli", "radio", "wifi", "on"])]
        default: return [.warn("wifi", reason, message, fix: "nmcli device status")]
        }
    }

    func onNetwork() async -> [Finding] {
        guard let error = await Self.fault(of: "on-network", context) else {
            return [.ok("network", "Boards that announce themselves on the network can be found.")]
        }
        let reason = error.reason ?? "unavailable"
        return [
            .warn(
                "network", reason,
                "Boards on the network are found by their address only (--device-host): \(error.message.asSentence)"
                    + Self.hint(reason),
                fix: reason == "no_bus"
                    ? Self.busFix
                    : "sudo apt install avahi-daemon && sudo systemctl enable --now avahi-daemon")
        ]
    }

    /// What keeps a transport from looking for boards; nil where it can look.
    private static func fault(of scheme: String, _ context: Context) async -> ProvisioningError? {
        do {
            let boards = context.boardClient().boards(BoardSearch(for: .milliseconds(300)), over: [scheme])
            for try await _ in boards {}
            return nil
        } catch let error as ProvisioningError {
            return error
        } catch {
            return nil
        }
    }

    /// Containers have no bus unless they are given their host's.
    private static func hint(_ reason: String) -> String {
        reason == "no_bus" && isContainer ? " This is a container, which has no bus of its own." : ""
    }

    private static var isContainer: Bool {
        access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0
    }

    private static var busFix: String {
        isContainer
            ? "docker run --volume /run/dbus/system_bus_socket:/run/dbus/system_bus_socket …"
            : "sudo systemctl start dbus"
    }
}
