// SPDX-License-Identifier: Apache-2.0

extension SerialPort {
    /// Whether ModemManager runs and may take the port for a modem: it types into every new one that udev's rules name a candidate, unless
    /// they say to leave it alone (ModemManager's documentation, "Common udev tags").
    public static func isProbedForModem(_ path: String, in files: SystemFiles = SystemFiles()) -> Bool {
        guard let name = name(of: path, in: files),
            let number = SmallFile.line("\(files.terminals)/\(name)/dev"),
            let rules = SmallFile.text("\(files.udevDatabase)/c\(number)")
        else { return false }
        let properties = Set(rules.split(separator: "\n"))
        let isIgnored = ["ID_MM_DEVICE_IGNORE=1", "ID_MM_PORT_IGNORE=1", "ID_MM_TTY_BLACKLIST=1"]
            .contains { properties.contains("E:\($0)") }
        guard properties.contains("E:ID_MM_CANDIDATE=1"), !isIgnored else { return false }
        return SmallFile.names(in: files.processes).contains { entry in
            Int32(entry) != nil && SmallFile.line("\(files.processes)/\(entry)/comm") == "ModemManager"
        }
    }
}
