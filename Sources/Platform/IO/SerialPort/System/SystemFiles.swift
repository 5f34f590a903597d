// SPDX-License-Identifier: Apache-2.0

/// Where the system keeps what it knows of serial ports: `/dev`, sysfs, `/proc` and udev's database.
public struct SystemFiles: Sendable, Hashable {
    /// What all paths begin with: empty, or a folder without a slash at its end, as where a container sees its host's.
    public var root: String

    public init(root: String = "") { self.root = root }

    /// The device files.
    var devices: String { "\(root)/dev" }
    /// A folder for each terminal, which leads to its USB device.
    var terminals: String { "\(root)/sys/class/tty" }
    /// A folder for each process.
    var processes: String { "\(root)/proc" }
    /// A file for each device, with what udev's rules say of it.
    var udevDatabase: String { "\(root)/run/udev/data" }
}
