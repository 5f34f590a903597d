// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainPrivateFiles

/// Where sessions and settings are kept: folders of this user's, that nobody else writes to, with room left.
extension Checkup {
    func files() -> [Finding] {
        var findings = obstacles.map { finding(about: $0) }
        let folders = [
            KeptFolder(path: context.folders.state, variable: "XDG_STATE_HOME", fallback: ".local/state"),
            KeptFolder(path: context.folders.configuration, variable: "XDG_CONFIG_HOME", fallback: ".config"),
        ]
        // What is wrong with HOME is wrong with both.
        for folder in lacksHome ? [] : folders {
            if let finding = finding(about: folder), !findings.contains(finding) { findings.append(finding) }
        }
        // A repair may have changed it since the settings were read.
        let ignored = context.settings.ignored.filter { !SettingsFiles.isOwn($0) }
        findings += ignored.map { Self.finding(aboutIgnored: $0) }
        guard findings.isEmpty else { return findings }
        return [.ok("files", "Sessions are kept in \(context.folders.state.onOneLine), where nobody else can write.")]
    }

    private struct KeptFolder {
        let path: String
        /// What names the folder that it lies in.
        let variable: String
        /// Below HOME, where the variable names none.
        let fallback: String
    }

    /// What to do where no command is known.
    private static let advice =
        "Set XDG_STATE_HOME and XDG_CONFIG_HOME to folders of yours that can be written, and that nobody else can write to."

    private func finding(about obstacle: Obstacle) -> Finding {
        guard let path = obstacle.path else {
            return .fail(
                "files", "no_home", obstacle.message,
                fix: #"export HOME="$(getent passwd "$(id -u)" | cut -d: -f6)""#)
        }
        return .fail("files", "unreadable_settings", obstacle.message, fix: Finding.movingAway(path))
    }

    /// A project's file that is ignored, because it may be somebody else's work. Its command is only printed: running it would make what
    /// somebody else has written count.
    static func finding(aboutIgnored path: String) -> Finding {
        let name = path.onOneLine
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return .warn("files", "ignored_settings", "\(name) is ignored: it is no plain file.")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            return .warn("files", "ignored_settings", "\(name) is ignored: it belongs to another user.")
        }
        let command = "chmod go-w \(path.asShellWord)"
        return .warn(
            "files", "ignored_settings", "\(name) is ignored: others may write to it. Read it before you use it.",
            fix: status.st_uid == geteuid() ? command : "sudo \(command)")
    }

    private func finding(about folder: KeptFolder) -> Finding? {
        guard let finding = lack(of: folder) else { return nil }
        guard finding.reason != "disk_full", home.keepsAway(folder.path), let owner = home.foreignOwner else {
            return finding
        }
        let path = home.path?.onOneLine ?? ""
        let message = "HOME is \(path), which belongs to another user (\(owner.onOneLine)), so nothing is kept there."
        return .fail(
            "files", "foreign_folder", home.command == nil ? "\(message) \(Self.advice)" : message, fix: home.command)
    }

    private func lack(of folder: KeptFolder) -> Finding? {
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
                "files", "disk_full", "The disk of \(place.onOneLine) is full.", fix: "df -h \(place.asShellWord)")
        }
        return nil
    }

    /// Both numbers are the file system's own: more than can be counted is enough.
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
                    "files", "foreign_folder", "\(path) belongs to another user, so nothing is kept there.",
                    fix: "sudo chown -R \"$USER\" \(folder.asShellWord)")
            }
            return Finding.fail("files", "open_folder", "Others may write to \(path), so nothing is kept there.")
                .repaired(by: ["chmod", "700", folder])
        case .symbolicLink:
            return .fail(
                "files", "symbolic_link", "\(path) is a symbolic link, which is not followed.",
                fix: "rm \(folder.asShellWord)")
        default:
            return .fail("files", "unreadable_folder", "\("\(error)".asSentence)", fix: "ls -ld \(folder.asShellWord)")
        }
    }

    private static func nearest(to folder: String) -> String {
        var place = folder
        while access(place, F_OK) != 0, let slash = place.lastIndex(of: "/"), place != "/" {
            place = slash == place.startIndex ? "/" : String(place[..<slash])
        }
        return place
    }

    private func readOnly(_ place: String, _ folder: KeptFolder, _ code: Int32) -> Finding {
        let why = String(cString: strerror(code))
        let name = place.onOneLine
        var message = "Nothing can be written to \(name): \(why)."
        var status = stat()
        if code == EACCES, lstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() {
            return Finding.fail("files", "read_only", message).repaired(by: ["chmod", "u+rwx", place])
        }
        // The specification says that relative paths are ignored.
        let given = context.variable(folder.variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
        if let given {
            message = "\(folder.variable) names \(given.onOneLine), and nothing can be written to \(name): \(why)."
            if let home = home.path {
                let other = Self.nearest(to: "\(home)/\(folder.fallback)")
                if access(other, W_OK | X_OK) == 0 {
                    return .fail("files", "read_only", message, fix: "unset \(folder.variable)")
                }
            }
        } else if let home = home.path, access(home, F_OK) != 0, errno == ENOENT {
            message = "HOME is \(home.onOneLine), which is not there and cannot be made: \(why)."
        }
        // HOME says nothing of a folder that a variable names.
        guard given == nil, let command = home.command else {
            return .fail("files", "read_only", "\(message) \(Self.advice)")
        }
        return .fail("files", "read_only", message, fix: command)
    }
}
