// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainDBus
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

/// What is in the way of Bluetooth where BlueZ can be used.
extension Checkup {
    /// What is older is of before June 2018, and nobody has tried it with boards.
    private static let oldestBlueZ = (5, 50)

    /// Nil for a version that will do, and for one that cannot be told.
    func oldBlueZ() async -> Finding? {
        let program = ChildProgram(environment: context.environmentOfPrograms)
        for name in ["bluetoothctl", "bluetoothd"] {
            guard let ended = try? await program.run([name, "--version"], within: answerLimit / 3), ended.isSuccess,
                let version = Self.version(in: ended.output)
            else { continue }
            guard version < Self.oldestBlueZ else { return nil }
            return .warn(
                "bluetooth", "old_bluez",
                "BlueZ is of version \(version.0).\(version.1), and what is older than "
                    + "\(Self.oldestBlueZ.0).\(Self.oldestBlueZ.1) is not known to work with boards.",
                fix: "sudo apt install --only-upgrade bluez")
        }
        return nil
    }

    /// Of `bluetoothctl: 5.66`, or `5.66`.
    static func version(in text: String) -> (Int, Int)? {
        let word = text.split(whereSeparator: \.isWhitespace).last ?? ""
        let numbers = word.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else { return nil }
        return (major, minor)
    }

    /// Another program's scan. BlueZ says that there is one, and not whose: of those on the bus it is one that is known to scan.
    func otherScanner() async -> Finding? {
        guard let bus = try? await DBusClient.connect(.system, within: answerLimit / 4) else { return nil }
        defer { bus.close() }
        guard let adapter = await scanningAdapter(bus) else { return nil }
        let message = "Another program scans with \(adapter.onOneLine), and boards may be heard late, or not at all"
        guard let scanner = await knownScanner(on: bus) else {
            return .warn("bluetooth", "busy", "\(message): BlueZ does not say which.", fix: "busctl --system list")
        }
        return .warn(
            "bluetooth", "busy", "\(message): \(scanner.name) (process \(scanner.id)).", fix: "kill \(scanner.id)")
    }

    /// The name of one whose `Discovering` is true (BlueZ, doc/adapter-api.txt).
    private func scanningAdapter(_ bus: DBusClient) async -> String? {
        let call = DBusCall("org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        let objects = try? await bus.call(call, within: answerLimit / 4)
        let found = objects?.first?.entries?.first {
            $0.value["org.bluez.Adapter1"]?["Discovering"]?.boolean == true
        }
        return found?.key.text?.split(separator: "/").last.map(String.init)
    }

    /// As the kernel has their names, which it cuts at 15 bytes (proc(5), `comm`).
    private static let scanners: Set = [
        "blueman-applet", "blueman-manager", "bluetoothctl", "bluetuith", "gnome-control-c", "hass", "rainctl",
    ]
    /// More than a desktop has on its bus.
    private static let maximumClients = 256

    private func knownScanner(on bus: DBusClient) async -> (name: String, id: Int)? {
        let names = (try? await bus.call(.bus("ListNames"), within: answerLimit / 8))?.first?.texts ?? []
        let end = ContinuousClock.now + answerLimit / 4
        for name in names.filter({ $0.hasPrefix(":") }).prefix(Self.maximumClients) where ContinuousClock.now < end {
            let call = DBusCall.bus("GetConnectionUnixProcessID", [.string(name)])
            guard let id = (try? await bus.call(call, within: answerLimit / 8))?.first?.integer, id != getpid(),
                let comm = commandName(of: id), Self.scanners.contains(comm)
            else { continue }
            return (comm, id)
        }
        return nil
    }

    private func commandName(of process: Int) -> String? {
        guard let stream = fopen("\(context.systemFiles.root)/proc/\(process)/comm", "re") else { return nil }
        defer { fclose(stream) }
        var line = [CChar](repeating: 0, count: 64)
        guard fgets(&line, Int32(line.count), stream) != nil else { return nil }
        let bytes = line.prefix { $0 != 0 && $0 != 0x0A }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
