// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainCore
import RainDBus
import RainIO

/// The serial ports that boards are on.
extension Checkup {
    /// The transport for serial ports, which knows where the system keeps them; nil if the client has none.
    private var serialBoards: SerialBoards? {
        client.configuration.transports.lazy.compactMap { $0 as? SerialBoards }.first
    }

    /// Where the system keeps devices and processes: a container sees its host's system in a folder.
    var systemFiles: SystemFiles { serialBoards?.files ?? SystemFiles() }

    func ports() async -> [Finding] {
        guard let files = serialBoards?.files else { return [] }
        let ports = SerialPort.available(in: files)
        guard !ports.isEmpty else { return [.ok("ports", "No board is plugged in.")] }
        var findings: [Finding] = []
        for port in ports where port.isLikelyBoard || ports.count == 1 {
            findings.append(Self.finding(about: port, in: files))
        }
        return findings.isEmpty
            ? [.ok("ports", "There are \(ports.count) serial ports, but none of them seems to belong to a board.")]
            : findings
    }

    private static func finding(about port: SerialPortDescription, in files: SystemFiles) -> Finding {
        let path = port.path.onOneLine
        // The port is not opened, which would restart some boards.
        if let holder = SerialPort.holders(of: port.path, in: files).first {
            return holder.isModemManager
                ? .warn(
                    "ports", "modem_manager", "ModemManager is using \(path), to test whether the board is a modem.",
                    fix: .command("sudo systemctl stop ModemManager"))
                : .warn(
                    "ports", "busy", "\(path) is open in \(holder.name.onOneLine) (process \(holder.processID)).",
                    fix: .command("kill \(holder.processID)"))
        }
        guard access(port.path, R_OK | W_OK) == 0 else {
            let advice = SerialPort.rightsAdvice(for: port.path)
            return .fail(
                "ports", "port_denied", "\(path): \(advice.sentence)", fix: advice.command.map { .command($0) })
        }
        if SerialPort.isProbedForModem(port.path, in: files) {
            return .warn(
                "ports", "modem_manager",
                "ModemManager sends data to \(path) whenever the board is plugged in, to find out whether it is a modem.",
                fix: .command("sudo systemctl mask --now ModemManager"))
        }
        return .ok("ports", "\(path) can be opened\(port.usb?.productName.map { " (\($0.onOneLine))" } ?? "").")
    }
}

/// The transports that need D-Bus: Bluetooth, Wi-Fi, services on the network.
extension Checkup {
    func bluetooth() async -> [Finding] {
        guard hasTransport("ble") else { return [] }
        if let finding = await lackOfBus("bluetooth", "Bluetooth cannot be used") { return [finding] }
        async let version = oldBlueZ()
        // Before a scan of our own.
        let scanner = await otherScanner()
        guard let error = await fault(of: "ble") else {
            let findings = [scanner, await version].compactMap { $0 }
            return findings.isEmpty ? [.ok("bluetooth", "Bluetooth can be used.")] : findings
        }
        let reason = error.reason ?? "unavailable"
        let message = error.message.asSentence
        switch reason {
        case "no_adapter":
            return [.warn("bluetooth", reason, message, fix: .command("bluetoothctl list"))]
        case "powered_off":
            return [.warn("bluetooth", reason, message, fix: .program(["bluetoothctl", "power", "on"]))]
        case "blocked": return [.warn("bluetooth", reason, message, fix: .command("rfkill unblock bluetooth"))]
        case "no_bluez":
            return [
                .warn(
                    "bluetooth", reason, message,
                    fix: .command("sudo apt install bluez && sudo systemctl enable --now bluetooth")
                )
            ]
        case "access_denied":
            return [.warn("bluetooth", reason, message, fix: .command("sudo usermod -aG bluetooth $USER"))]
        default: return [.warn("bluetooth", reason, message, fix: .command("systemctl status bluetooth"))]
        }
    }

    func wifi() async -> [Finding] {
        guard hasTransport("softap") else { return [] }
        let consequence = "You have to join boards' own networks by hand"
        if let finding = await lackOfBus("wifi", consequence) { return [finding] }
        guard let error = await fault(of: "softap") else {
            return [.ok("wifi", "Boards' own networks can be joined through NetworkManager.")]
        }
        let reason = error.reason ?? "unavailable"
        let message = "\(consequence): \(error.message.asSentence)"
        switch reason {
        case "no_network_manager":
            return [
                .warn(
                    "wifi", reason, message,
                    fix: .command("sudo apt install network-manager && sudo systemctl enable --now NetworkManager"))
            ]
        case "wifi_off":
            return [.warn("wifi", reason, message, fix: .program(["nmcli", "radio", "wifi", "on"]))]
        default: return [.warn("wifi", reason, message, fix: .command("nmcli device status"))]
        }
    }

    func onNetwork() async -> [Finding] {
        guard hasTransport("on-network") else { return [] }
        let consequence = "Boards on the network can be found only by their address"
        if let finding = await lackOfBus("network", consequence) { return [finding] }
        guard let error = await fault(of: "on-network") else {
            return [.ok("network", "Boards that announce themselves on the network can be found.")]
        }
        return [
            .warn(
                "network", error.reason ?? "unavailable", "\(consequence): \(error.message.asSentence)",
                fix: .command("sudo apt install avahi-daemon && sudo systemctl enable --now avahi-daemon"))
        ]
    }

    private func hasTransport(_ scheme: String) -> Bool {
        client.configuration.transports.contains { $0.scheme == scheme }
    }

    /// Why a transport cannot look for boards; nil if it can.
    private func fault(of scheme: String) async -> BoardError? {
        do {
            let boards = client.boards(BoardSearch(for: .milliseconds(300)), over: [scheme])
            for try await _ in boards {}
            return nil
        } catch {
            return RainKitError(wrapping: error).board
        }
    }

    // MARK: The bus

    /// A bus that is absent or silent looks like absent or silent services. Nil if there is a bus.
    private func lackOfBus(_ check: String, _ consequence: String) async -> Finding? {
        do throws(DBusError) {
            try await DBusClient.connect(.system, within: min(.seconds(2), answerLimit / 2)).close()
            return nil
        } catch {
            guard [.unavailable, .timeout].contains(error.code) else { return nil }
            if let address = variable("DBUS_SYSTEM_BUS_ADDRESS"), !Self.lacksLibrary(error) {
                let message =
                    "\(consequence): \(error.message.asSentence) DBUS_SYSTEM_BUS_ADDRESS is set to \"\(address.onOneLine)\"."
                return .warn(check, "no_bus", message, fix: .command("unset DBUS_SYSTEM_BUS_ADDRESS"))
            }
            return .warn(
                check, "no_bus", "\(consequence): \(error.message)\(runsInContainer() ? " This is a container." : "")",
                fix: .command(Self.busCommand(after: error, isContainer: runsInContainer())))
        }
    }

    private static func lacksLibrary(_ error: DBusError) -> Bool { error.message.contains("libsystemd.so.0") }

    /// Containers have no bus unless they are given their host's, and no systemd that could start one.
    static func busCommand(after error: DBusError, isContainer: Bool) -> String {
        if lacksLibrary(error) { return "sudo apt install libsystemd0" }
        let socket = "/run/dbus/system_bus_socket"
        return isContainer ? "docker run --volume \(socket):\(socket) IMAGE" : "sudo systemctl start dbus"
    }
}
