// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainDBus
import RainKit

/// The ways to boards that lead over D-Bus: Bluetooth, Wi-Fi, services on the network.
extension Checkup {
    func bluetooth() async -> [Finding] {
        if let finding = await lackOfBus("bluetooth", "Bluetooth cannot be used") { return [finding] }
        async let version = oldBlueZ()
        // Before a scan of our own.
        let scanner = await otherScanner()
        guard let error = await Self.fault(of: "ble", context) else {
            let findings = [scanner, await version].compactMap { $0 }
            return findings.isEmpty ? [.ok("bluetooth", "Bluetooth can be used.")] : findings
        }
        let reason = error.reason ?? "unavailable"
        let message = error.message.asSentence
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
        default: return [.warn("bluetooth", reason, message, fix: "systemctl status bluetooth")]
        }
    }

    func wifi() async -> [Finding] {
        let consequence = "Boards' own networks cannot be joined from here, and have to be joined by hand"
        if let finding = await lackOfBus("wifi", consequence) { return [finding] }
        guard let error = await Self.fault(of: "softap", context) else {
            return [.ok("wifi", "Boards' own networks can be joined through NetworkManager.")]
        }
        let reason = error.reason ?? "unavailable"
        let message = "\(consequence): \(error.message.asSentence)"
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
        let consequence = "Boards on the network are found by their address only (--device-host)"
        if let finding = await lackOfBus("network", consequence) { return [finding] }
        guard let error = await Self.fault(of: "on-network", context) else {
            return [.ok("network", "Boards that announce themselves on the network can be found.")]
        }
        return [
            .warn(
                "network", error.reason ?? "unavailable", "\(consequence): \(error.message.asSentence)",
                fix: "sudo apt install avahi-daemon && sudo systemctl enable --now avahi-daemon")
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

    // MARK: The bus

    /// The bus's absence, or its silence, looks like that of each service on it.
    private func lackOfBus(_ check: String, _ consequence: String) async -> Finding? {
        do throws(DBusError) {
            try await DBusClient.connect(.system, within: min(.seconds(2), answerLimit / 2)).close()
            return nil
        } catch {
            guard [.unavailable, .timeout].contains(error.code) else { return nil }
            if let address = context.variable("DBUS_SYSTEM_BUS_ADDRESS"), !Self.lacksLibrary(error) {
                let message =
                    "\(consequence): \(error.message.asSentence) DBUS_SYSTEM_BUS_ADDRESS names \"\(address.onOneLine)\"."
                return .warn(check, "no_bus", message, fix: "unset DBUS_SYSTEM_BUS_ADDRESS")
            }
            return .warn(
                check, "no_bus", "\(consequence): \(error.message)\(Self.isContainer ? " This is a container." : "")",
                fix: Self.busCommand(after: error, isContainer: Self.isContainer))
        }
    }

    private static func lacksLibrary(_ error: DBusError) -> Bool { error.message.contains("libsystemd.so.0") }

    /// Containers have no bus unless they are given their host's, and no systemd that could start one.
    static func busCommand(after error: DBusError, isContainer: Bool) -> String {
        if lacksLibrary(error) { return "sudo apt install libsystemd0" }
        let socket = "/run/dbus/system_bus_socket"
        return isContainer ? "docker run --volume \(socket):\(socket) IMAGE" : "sudo systemctl start dbus"
    }

    static var isContainer: Bool { access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 }
}
