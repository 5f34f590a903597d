// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainDBus
import RainIO

/// Problems of Bluetooth that do not stop a search: an old BlueZ, and other programs that scan.
extension Checkup {
    /// Older versions are from before June 2018, and untested with boards.
    private static let oldestBlueZ = (5, 50)

    /// Nil for a version that is new enough, and for one that is unknown.
    func oldBlueZ() async -> Finding? {
        let program = ChildProgram(
            environment: programEnvironment ?? client.programEnvironment, timer: client.configuration.tools.timer)
        for name in ["bluetoothctl", "bluetoothd"] {
            guard let ended = try? await program.run([name, "--version"], within: answerLimit / 3), ended.isSuccess,
                let version = Self.version(in: ended.output)
            else { continue }
            guard version < Self.oldestBlueZ else { return nil }
            return .warn(
                "bluetooth", "old_bluez",
                "BlueZ has version \(version.0).\(version.1). It may not work with boards: RainKit needs version "
                    + "\(Self.oldestBlueZ.0).\(Self.oldestBlueZ.1) or later.",
                fix: .command("sudo apt install --only-upgrade bluez"))
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

    /// Another program's scan. BlueZ reports a scan, but not which program started it. It is taken for that of a program on the bus that is
    /// known to scan.
    func otherScanner() async -> Finding? {
        guard let bus = try? await DBusClient.connect(.system, within: answerLimit / 4) else { return nil }
        defer { bus.close() }
        guard let adapter = await scanningAdapter(bus) else { return nil }
        let message = "Another program scans with \(adapter.onOneLine), so boards may be found late or not at all"
        guard let scanner = await knownScanner(on: bus) else {
            return .warn(
                "bluetooth", "busy", "\(message). BlueZ does not report which program it is.",
                fix: .command("busctl --system list"))
        }
        return .warn(
            "bluetooth", "busy", "\(message): \(scanner.name) (process \(scanner.id)).",
            fix: .command("kill \(scanner.id)"))
    }

    /// The name of an adapter whose `Discovering` is true (BlueZ, doc/adapter-api.txt).
    private func scanningAdapter(_ bus: DBusClient) async -> String? {
        let call = DBusCall("org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        let objects = try? await bus.call(call, within: answerLimit / 4)
        let found = objects?.first?.entries?.first {
            $0.value["org.bluez.Adapter1"]?["Discovering"]?.boolean == true
        }
        return found?.key.text?.split(separator: "/").last.map(String.init)
    }

    /// Their names as the kernel has them, at most 15 bytes (proc(5), `comm`).
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
        guard let stream = fopen("\(systemFiles.root)/proc/\(process)/comm", "re") else { return nil }
        defer { fclose(stream) }
        var line = [CChar](repeating: 0, count: 64)
        guard fgets(&line, Int32(line.count), stream) != nil else { return nil }
        let bytes = line.prefix { $0 != 0 && $0 != 0x0A }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
