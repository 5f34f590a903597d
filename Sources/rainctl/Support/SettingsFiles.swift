// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainJSON
import RainKit

/// Settings from files: a project's file for everybody who works in its folder, the user's file, and the machine's. Some commands change
/// settings too.
///
/// An option takes precedence over an environment variable, then follow the project, the user and the machine.
struct SettingsFiles: Sendable {
    /// The settings, under their names in the files.
    enum Name: String, CaseIterable { case profile, account, store, caFile = "ca_file" }

    enum Level: Sendable, CaseIterable {
        case project, user, system

        /// The settings that a level may have. A project may name one of the user's deployments and accounts, but not what to trust,
        /// because its file may come from somebody else. `profile use` and `account use` set the user's own deployment and account.
        var names: [Name] {
            switch self {
            case .project: [.profile, .account]
            case .user: [.store, .caFile]
            case .system: [.profile, .store, .caFile]
            }
        }
    }

    struct Setting: Sendable {
        let text: String
        let path: String
    }

    private static let projectFile = ".rainkit.json"
    private static let maximumBytes = 65536
    /// The settings of each level's file; nil without a file.
    private var values: (project: [String: Setting]?, user: [String: Setting]?, system: [String: Setting]?)
    /// The projects' files that are ignored, because others may write to them.
    private(set) var ignored: [String] = []

    /// The setting in the file of that level.
    subscript(level: Level, name: Name) -> Setting? { self[level]?[name.rawValue] }

    private subscript(level: Level) -> [String: Setting]? {
        get {
            switch level {
            case .project: values.project
            case .user: values.user
            case .system: values.system
            }
        }
        set {
            switch level {
            case .project: values.project = newValue
            case .user: values.user = newValue
            case .system: values.system = newValue
            }
        }
    }

    /// The setting of the first level that has one.
    subscript(name: Name) -> Setting? { Level.allCases.lazy.compactMap { self[$0, name] }.first }

    /// Called for a settings file that cannot be used, with the reason. If it does not throw, the file counts as empty.
    typealias Obstacle = (_ path: String?, CommandFailure) throws(CommandFailure) -> Void

    /// - Parameter working: the folder from which a project's file is searched upwards.
    init(
        _ environment: [String: String], user folder: String, working: String? = currentFolder(), obstacle: Obstacle
    ) throws(CommandFailure) {
        try read("\(folder)/config.json", .user, obstacle)
        let list = environment["XDG_CONFIG_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/etc/xdg"
        for folder in list.split(separator: ":") where folder.hasPrefix("/") && values.system == nil {
            try read("\(folder)/rainkit/config.json", .system, obstacle)
        }
        try readProject(from: working ?? "", obstacle)
    }

    /// Reads the nearest file from the working folder upwards. A file that others may write to does not count.
    private mutating func readProject(from working: String, _ obstacle: Obstacle) throws(CommandFailure) {
        var folder = working
        while folder.hasPrefix("/"), values.project == nil {
            let path = folder == "/" ? "/\(Self.projectFile)" : "\(folder)/\(Self.projectFile)"
            var status = stat()
            if lstat(path, &status) == 0 {
                if Self.doubt(status) == nil { try read(path, .project, obstacle) } else { ignored.append(path) }
            }
            guard folder != "/", let slash = folder.lastIndex(of: "/") else { return }
            folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
        }
    }

    static func isOwn(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && doubt(status) == nil
    }

    /// Why a project's file does not count; nil if it counts. A folder that belongs to the user is an error when it is read.
    private static func doubt(_ status: stat) -> String? {
        guard status.st_uid == getuid() || status.st_uid == 0 else {
            return "it belongs to another user (uid \(status.st_uid))"
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return nil
        case S_IFREG:
            return status.st_mode & 0o022 == 0
                ? nil : "other users may write to it (to prevent this, run chmod go-w on it)"
        case S_IFLNK: return "it is a symbolic link"
        default: return "it is not a plain file"
        }
    }

    /// A sentence about each ignored file of a project.
    var warnings: [String] {
        ignored.compactMap { path in
            var status = stat()
            guard lstat(path, &status) == 0, let doubt = Self.doubt(status) else { return nil }
            return "\(path.onOneLine) is not used: \(doubt)."
        }
    }

    private mutating func read(_ path: String, _ level: Level, _ obstacle: Obstacle) throws(CommandFailure) {
        do throws(CommandFailure) {
            try read(path, level)
        } catch {
            try obstacle(path, error)
            self[level] = [:]
        }
    }

    private mutating func read(_ path: String, _ level: Level) throws(CommandFailure) {
        guard let bytes = try Self.bytes(path) else { return }
        let text: [UInt8]
        do throws(FileText.Fault) {
            text = try FileText.document(bytes)
        } catch {
            throw Self.unreadable(path, "\(error)")
        }
        self[level] = try Self.settings(in: text, of: level, path)
    }

    /// Returns the settings of a file of that level.
    ///
    /// - Throws: `unreadable_settings`, naming the member, for a member with another name or type. Such a member is not ignored.
    static func settings(in bytes: [UInt8], of level: Level, _ path: String) throws(CommandFailure) -> [String: Setting]
    {
        var found: [String: Setting] = [:]
        do throws(JSONError) {
            let members = try JSONMembers(JSONValue(parsing: bytes), takesNull: false)
            for name in (members.value.members ?? []).map(\.name) {
                guard level.names.contains(where: { $0.rawValue == name }) else {
                    let names = level.names.map(\.rawValue).joined(separator: ", ")
                    throw JSONError(.typeMismatch, "the file sets \"\(name.onOneLine)\", but it may set only \(names)")
                }
                guard let text = try members.text(name), !text.isEmpty else {
                    throw JSONError(.missing, "\"\(name)\" is empty")
                }
                found[name] = Setting(text: text, path: path)
            }
        } catch {
            let isMember = [.typeMismatch, .missing].contains(error.code)
            throw unreadable(path, isMember ? error.message : "the file is not JSON: \(error)")
        }
        return found
    }

    /// Nil if there is no such file.
    private static func bytes(_ path: String) throws(CommandFailure) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            if [ENOENT, ENOTDIR].contains(code) || isHidden(path) { return nil }
            throw unreadable(path, systemErrorText(code))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: maximumBytes + 1)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + count, $0.count - count)
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else {
                throw unreadable(path, errno == EISDIR ? "it is a folder" : systemErrorText(errno))
            }
            if more == 0 { return Array(bytes[..<count]) }
            count += more
        }
        throw unreadable(path, "it has more than \(maximumBytes) bytes")
    }

    /// Whether a folder without permission on the path hides if the file exists.
    private static func isHidden(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0 && errno == EACCES
    }

    private static func unreadable(_ path: String, _ why: String) -> CommandFailure {
        CommandFailure(
            .config, reason: "unreadable_settings",
            message: "The settings in \(path.onOneLine) cannot be used: \(why). Fix the file, or move it away.")
    }
}

/// The process's working folder; nil if it is gone.
func currentFolder() -> String? {
    guard let text = getcwd(nil, 0) else { return nil }
    defer { free(text) }
    return String(cString: text)
}

/// Returns the path for commands that run in another folder; nil for a relative path if the working folder is gone.
func absolutePath(_ path: String) -> String? {
    path.hasPrefix("/") ? path : currentFolder().map { "\($0)/\(path)" }
}
