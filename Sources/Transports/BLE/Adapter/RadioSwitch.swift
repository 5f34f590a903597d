// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whether rfkill holds Bluetooth off, as the kernel tells it in sysfs (Documentation/ABI/stable/sysfs-class-rfkill).
enum RadioSwitch {
    static func isBlocked(_ folder: String = "/sys/class/rfkill") -> Bool {
        guard let entries = opendir(folder) else { return false }
        defer { closedir(entries) }
        var blocked = false
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix("rfkill"), read("\(folder)/\(name)/type") == "bluetooth" else { continue }
            if read("\(folder)/\(name)/soft") == "1" || read("\(folder)/\(name)/hard") == "1" {
                blocked = true
            } else {
                return false
            }
        }
        return blocked
    }

    private static func read(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 32)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)).prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
