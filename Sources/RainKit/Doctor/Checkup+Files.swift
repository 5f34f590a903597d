// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainPrivateFiles

/// The folders for sessions and settings. They must be this user's, nobody else may write to them, and there must be room left.
extension Checkup {
    func files() -> [Finding] {
        var findings: [Finding] = []
        // A problem with HOME is one of all folders.
        for folder in folders {
            if let finding = finding(about: folder), !findings.contains(finding) { findings.append(finding) }
        }
        guard findings.isEmpty, let sessions = folders.first else { return findings }
        return [.ok("files", "Sessions are stored in \(sessions.path.onOneLine). Only you can write to this folder.")]
    }

    /// What to do if no command is known.
    private var advice: String {
        let variables = folders.compactMap(\.variable).joined(separator: " and ")
        return variables.isEmpty
            ? "Use a folder to which only you can write."
            : "Set \(variables) to folders to which only you can write."
    }

    private func finding(about folder: Folder) -> Finding? {
        guard let finding = lack(of: folder) else { return nil }
        guard finding.reason != "disk_full", home.keepsAway(folder.path), let owner = home.foreignOwner else {
            return finding
        }
        let path = home.path?.onOneLine ?? ""
        let message =
            "HOME is \(path), which belongs to another user (\(owner.onOneLine)), so no files are stored there."
        return .fail(
            "files", "foreign_folder", home.command == nil ? "\(message) \(advice)" : message,
            fix: home.command.map { .command($0) })
    }

    private func lack(of folder: Folder) -> Finding? {
        do throws(PrivateFileError) {
            _ = try PrivateFolder.open(folder.path, create: false)
        } catch {
            return Self.finding(about: folder.path, error)
        }
        // The nearest folder that exists is where the others would be made.
        let place = Self.nearest(to: folder.path)
        guard access(place, W_OK | X_OK) == 0 else { return readOnly(place, folder, errno) }
        var space = statvfs()
        let isRead = statvfs(place, &space) == 0
        if isRead, !Self.hasRoom(UInt(space.f_bavail), blocksOf: UInt(space.f_frsize)) {
            return .fail(
                "files", "disk_full", "The disk of \(place.onOneLine) is full.",
                fix: .command("df -h \(place.asShellWord)"))
        }
        return nil
    }

    /// Whether there is enough room. Both numbers are the file system's own: more than can be counted is enough.
    static func hasRoom(_ free: UInt, blocksOf size: UInt) -> Bool {
        let (bytes, isMore) = free.multipliedReportingOverflow(by: size)
        return isMore || bytes >= 4 << 20
    }

    private static func finding(about folder: String, _ error: PrivateFileError) -> Finding {
        let path = folder.onOneLine
        switch error.code {
        case .openFolder:
            var status = stat()
            guard stat(folder, &status) == 0, status.st_uid == geteuid() else {
                return .fail(
                    "files", "foreign_folder", "\(path) belongs to another user, so no files are stored there.",
                    fix: .command("sudo chown -R \"$USER\" \(folder.asShellWord)"))
            }
            return .fail(
                "files", "open_folder", "Other users may write to \(path), so no files are stored there.",
                fix: .program(["chmod", "700", folder]))
        case .symbolicLink:
            return .fail(
                "files", "symbolic_link", "\(path) is a symbolic link, so no files are stored there.",
                fix: .command("rm \(folder.asShellWord)"))
        default:
            return .fail(
                "files", "unreadable_folder", "\("\(error)".asSentence)", fix: .command("ls -ld \(folder.asShellWord)"))
        }
    }

    private static func nearest(to folder: String) -> String {
        var place = folder
        while access(place, F_OK) != 0, let slash = place.lastIndex(of: "/"), place != "/" {
            place = slash == place.startIndex ? "/" : String(place[..<slash])
        }
        return place
    }

    private func readOnly(_ place: String, _ folder: Folder, _ code: Int32) -> Finding {
        let why = systemErrorText(code)
        let name = place.onOneLine
        var message = "Nothing can be written to \(name): \(why)."
        var status = stat()
        if code == EACCES, lstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() {
            return .fail("files", "read_only", message, fix: .program(["chmod", "u+rwx", place]))
        }
        // The specification says that relative paths are ignored.
        let given = folder.variable.flatMap { name in
            variable(name).flatMap { $0.hasPrefix("/") ? (name: name, path: $0) : nil }
        }
        if let given {
            message = "\(given.name) is set to \(given.path.onOneLine), but nothing can be written to \(name): \(why)."
            if let home = home.path, let fallback = folder.fallback,
                access(Self.nearest(to: "\(home)/\(fallback)"), W_OK | X_OK) == 0
            {
                return .fail("files", "read_only", message, fix: .command("unset \(given.name)"))
            }
        } else if let home = home.path, access(home, F_OK) != 0, errno == ENOENT {
            message = "HOME is \(home.onOneLine), which does not exist and cannot be created: \(why)."
        }
        // HOME says nothing of a folder that a variable names.
        guard given == nil, let command = home.command else {
            return .fail("files", "read_only", "\(message) \(advice)")
        }
        return .fail("files", "read_only", message, fix: .command(command))
    }
}

/// The folder that HOME names, compared with the user of this process and the user database.
package struct HomeFolder: Sendable {
    /// Nil if HOME is not set, or is not an absolute path.
    let path: String?
    /// The owner of the folder, if that is another user: `sudo` and `su` may leave HOME as it was.
    let foreignOwner: String?
    /// The command that sets HOME to the home of the user database, if that is another one and can be written.
    let command: String?

    package init(_ environment: [String: String]) {
        let path = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        self.path = path
        var status = stat()
        if let path, stat(path, &status) == 0, status.st_uid != geteuid() {
            foreignOwner = Self.entry(of: status.st_uid)?.name ?? "user \(status.st_uid)"
        } else {
            foreignOwner = nil
        }
        if let own = Self.entry(of: geteuid())?.home, own.hasPrefix("/"), own != path, access(own, W_OK | X_OK) == 0 {
            command = "export HOME=\(own.asShellWord)"
        } else {
            command = nil
        }
    }

    /// Whether a folder is out of reach because HOME is another user's.
    package func keepsAway(_ folder: String) -> Bool {
        guard foreignOwner != nil, let path, folder.hasPrefix("\(path)/") else { return false }
        var status = stat()
        return lstat(folder, &status) != 0 || status.st_uid != geteuid()
    }

    private static func entry(of user: uid_t) -> (name: String, home: String)? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16384)
        guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let name = entry.pw_name, let home = entry.pw_dir
        else { return nil }
        return (String(cString: name), String(cString: home))
    }
}
