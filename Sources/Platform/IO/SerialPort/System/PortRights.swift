// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// Why this user may not open a port, and how to fix it.
struct PortRights {
    /// The group that may read and write the port.
    enum Group: Equatable {
        case named(String)
        /// This system has no name for the group, as in a container.
        case numbered(UInt32)
        /// Only the port's owner may.
        case none
    }

    var group: Group
    /// Whether the user database has this user in the group, although this session does not have the group yet.
    var isMember: Bool

    /// - Returns: nil if the port cannot be examined.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let mask = S_IRGRP | S_IWGRP
        guard status.st_mode & mask == mask, status.st_gid != 0 else {
            (group, isMember) = (.none, false)
            return
        }
        guard let entry = getgrgid(status.st_gid) else {
            (group, isMember) = (.numbered(status.st_gid), false)
            return
        }
        group = .named(String(cString: entry.pointee.gr_name))
        isMember = Self.members(of: entry).contains(Self.userName ?? "")
    }

    init(group: Group, isMember: Bool) {
        self.group = group
        self.isMember = isMember
    }

    /// A sentence or two for people.
    var advice: String {
        switch group {
        case .named(let name) where isMember:
            "This user may not open the port yet: the group \(name) takes effect only in a new session. Sign out and in again, or run "
                + "`newgrp \(ShellWord.quoted(name))`."
        case .named(let name):
            "This user may not open the port: the port belongs to the group \(name). Run `sudo usermod -aG \(ShellWord.quoted(name)) "
                + "$USER`, then sign out and in again."
        case .numbered(let id):
            "This user may not open the port: the port belongs to the group with the number \(id), which has no name here. If this is a "
                + "container, start the container with that group added."
        case .none:
            "Only root may open the port: no group has rights to it. Add a udev rule with `TAG+=\"uaccess\"` or `GROUP=\"dialout\", "
                + "MODE=\"0660\"` for the port's adapter."
        }
    }

    private static var userName: String? { getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } }

    private static func members(of entry: UnsafeMutablePointer<group>) -> [String] {
        guard let names = entry.pointee.gr_mem else { return [] }
        var members: [String] = []
        while let name = names[members.count] { members.append(String(cString: name)) }
        return members
    }
}

extension SerialPort {
    /// Returns why this user may not open a port, as a sentence for people, and the command that fixes it, if there is one.
    public static func rightsAdvice(for path: String) -> (sentence: String, command: String?) {
        guard let rights = PortRights(of: path) else { return ("It cannot be opened.", nil) }
        let command: String? =
            switch rights.group {
            case .named(let name):
                rights.isMember
                    ? "newgrp \(ShellWord.quoted(name))" : "sudo usermod -aG \(ShellWord.quoted(name)) $USER"
            case .numbered, .none: nil
            }
        return (rights.advice, command)
    }
}
