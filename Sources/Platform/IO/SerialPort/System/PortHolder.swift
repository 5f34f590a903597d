// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A program that has a port open.
public struct PortHolder: Sendable, Hashable {
    /// Its process id.
    public var processID: Int32
    /// What the kernel calls the process: the first 15 bytes of its program's name.
    public var name: String

    public init(processID: Int32, name: String) {
        self.processID = processID
        self.name = name
    }

    /// Whether it is the service that tries whether a new port is a modem, which takes it half a minute.
    public var isModemManager: Bool { name == "ModemManager" }
}

extension SerialPort {
    /// The other programs that have a port open, as far as this user may see what they have open: those of others only root sees.
    public static func holders(of path: String, in files: SystemFiles = SystemFiles()) -> [PortHolder] {
        guard let port = status(path) else { return [] }
        var holders: [PortHolder] = []
        for entry in SmallFile.names(in: files.processes) {
            guard let id = Int32(entry), id != getpid() else { continue }
            let folder = "\(files.processes)/\(entry)"
            let isHolder = SmallFile.names(in: "\(folder)/fd").contains { descriptor in
                guard let opened = status("\(folder)/fd/\(descriptor)") else { return false }
                if opened.st_ino == port.st_ino, opened.st_dev == port.st_dev { return true }
                // In a container the same device has another file.
                return port.st_rdev != 0 && opened.st_rdev == port.st_rdev && opened.st_mode & S_IFMT == S_IFCHR
            }
            if isHolder { holders.append(PortHolder(processID: id, name: SmallFile.line("\(folder)/comm") ?? "?")) }
        }
        return holders.sorted { $0.processID < $1.processID }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
