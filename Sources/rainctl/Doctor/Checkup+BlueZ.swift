// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainDBus
import RainKit

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
