// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainJSON

/// What files say beside the commands that change settings: a project's file for those who work in its folder, the user's, and the machine's.
///
/// An option goes before a variable of the environment, a variable before the project, the project before the user, the user before the machine.
struct SettingsFiles: Sendable {
    /// What can be set, under the name that it has in the files.
    enum Name: String, CaseIterable { case profile, account, store, caFile = "ca_file" }

    enum Level: Sendable, CaseIterable {
        case project, user, system

        /// A project may say which of the user's deployments and accounts is meant, and not whom to trust: its file may be somebody else's work.
        /// The user's own deployment and account are what `profile use` and `account use` say.
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

    static let projectFile = ".rainkit.json"
    private static let maximumBytes = 65536
    private var values: [Level: [String: Setting]] = [:]
    /// The projects' files on the way that do not count, because somebody else may write them.
    private(set) var ignored: [String] = []

    /// What that file says.
    subscript(level: Level, name: Name) -> Setting? { values[level]?[name.rawValue] }

    /// The first that says anything.
    subscript(name: Name) -> Setting? { Level.allCases.lazy.compactMap { self[$0, name] }.first }

    /// Told of a file that is there and is none, and why; the file counts as empty where it throws nothing.
    typealias Obstacle = (_ path: String?, CommandFailure) throws(CommandFailure) -> Void

    /// - Parameter working: the folder from which a project's file is looked for upwards.
    init(
        _ environment: [String: String], user folder: String, working: String? = currentFolder(), obstacle: Obstacle
    ) throws(CommandFailure) {
        try read("\(folder)/config.json", .user, obstacle)
        let list = environment["XDG_CONFIG_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/etc/xdg"
        for folder in list.split(separator: ":") where folder.hasPrefix("/") && values[.system] == nil {
            try read("\(folder)/rainkit/config.json", .system, obstacle)
        }
        try readProject(from: working ?? "", obstacle)
    }

    /// The nearest one from the working folder upwards. One that somebody else may write is none.
    private mutating func readProject(from working: String, _ obstacle: Obstacle) throws(CommandFailure) {
        var folder = working
        while folder.hasPrefix("/"), values[.project] == nil {
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

    /// Why a project's file does not count; nil for one that does. A folder of the user's own is an error when it is read.
    private static func doubt(_ status: stat) -> String? {
        guard status.st_uid == getuid() || status.st_uid == 0 else {
            return "it belongs to another user (uid \(status.st_uid))"
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return nil
        case S_IFREG: return status.st_mode & 0o022 == 0 ? nil : "others may write to it (chmod go-w changes that)"
        case S_IFLNK: return "it is a symbolic link"
        default: return "it is not a plain file"
        }
    }

    /// A sentence about each of the projects' files that do not count.
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
            values[level] = [:]
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
        values[level] = try Self.settings(in: text, of: level, path)
    }

    /// What a file of that level sets.
    ///
    /// - Throws: `unreadable_settings`, naming the member, for one that has another name or type. It does not count as absent.
    static func settings(in bytes: [UInt8], of level: Level, _ path: String) throws(CommandFailure) -> [String: Setting]
    {
        var found: [String: Setting] = [:]
        do throws(JSONError) {
            let members = try JSONMembers(JSONValue(parsing: bytes), takesNull: false)
            for name in (members.value.members ?? []).map(\.name) {
                guard level.names.contains(where: { $0.rawValue == name }) else {
                    let names = level.names.map(\.rawValue).joined(separator: ", ")
                    throw JSONError(.typeMismatch, "it sets \"\(name.onOneLine)\", and it may set only \(names)")
                }
                guard let text = try members.text(name), !text.isEmpty else {
                    throw JSONError(.missing, "\"\(name)\" is empty")
                }
                found[name] = Setting(text: text, path: path)
            }
        } catch {
            let isMember = [.typeMismatch, .missing].contains(error.code)
            throw unreadable(path, isMember ? error.message : "it is not JSON (\(error.message))")
        }
        return found
    }

    /// Nil where there is no such file.
    private static func bytes(_ path: String) throws(CommandFailure) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            if [ENOENT, ENOTDIR].contains(code) || isHidden(path) { return nil }
            throw unreadable(path, String(cString: strerror(code)))
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
                throw unreadable(path, errno == EISDIR ? "it is a folder" : String(cString: strerror(errno)))
            }
            if more == 0 { return Array(bytes[..<count]) }
            count += more
        }
        throw unreadable(path, "it has more than \(maximumBytes) bytes")
    }

    /// Whether a closed folder on the way hides if there is such a file.
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

/// The path for commands that run in another folder; nil for a relative one if the working folder is gone.
func absolutePath(_ path: String) -> String? {
    path.hasPrefix("/") ? path : currentFolder().map { "\($0)/\(path)" }
}
