// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc

/// Returns the system's text for an error number, with the cause if the text does not name it.
package func systemWords(_ number: Int32) -> String {
    let words = systemErrorText(number)
    // If no file has that size, the cause is the process's own limit (setrlimit(2), RLIMIT_FSIZE).
    return number == EFBIG ? "the limit on the size of files is too low (ulimit -f; \(words))" : words
}

/// Returns the reason why a file could not be opened for writing, for an error number. A missing folder is named.
package func writeProblem(_ number: Int32, at path: String) -> String {
    let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    guard number == ENOENT, !folder.isEmpty, access(String(folder), F_OK) != 0 else { return systemWords(number) }
    return "the folder \(String(folder).onOneLine) does not exist"
}

/// Why a private file was not read or written. It never quotes the content.
public struct PrivateFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `notPrivate`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unreadable, unwritable, notPrivate, openFolder, symbolicLink, tooLarge, locked, writableByOthers
        }
        private let value: Value
        public var description: String { value.rawValue }

        /// The system does not allow reading; ``PrivateFileError/detail`` has the reason.
        public static let unreadable = Code(value: .unreadable)
        /// The file, its folder or its lock could not be made, replaced or removed; ``PrivateFileError/detail`` has the reason.
        public static let unwritable = Code(value: .unwritable)
        /// Others may read it, it belongs to another user, or it is not a regular file.
        public static let notPrivate = Code(value: .notPrivate)
        /// Others may write to its folder, or the folder belongs to another user.
        public static let openFolder = Code(value: .openFolder)
        /// A symbolic link is in its place, which could lead anywhere.
        public static let symbolicLink = Code(value: .symbolicLink)
        /// Another user may write it, or owns it.
        public static let writableByOthers = Code(value: .writableByOthers)
        /// It has more bytes than the caller allows.
        public static let tooLarge = Code(value: .tooLarge)
        /// Another process held the lock for too long.
        public static let locked = Code(value: .locked)
    }

    /// The kind of failure; the description has advice.
    public var code: Code
    /// The file or folder that the failure is about.
    public var path: String
    /// The system's text, if there was one.
    public var detail: String?
    /// The other user who owns the file or folder, if that is the cause: `root` or `user 1000`.
    public var owner: String?
    /// Whether `sudo` probably left it there, so that the user may change its owner. Elsewhere a change of the owner damages the machine.
    private var isLeftBySudo = false
    private var isFolder = false
    /// Whether it is a folder that all users share, such as /tmp.
    private var isShared = false
    /// Whether ``path`` is a file where a folder is required.
    private var isInPlaceOfFolder = false
    /// Whether ``path`` is a folder that does not exist and could not be made.
    private var isUncreated = false
    /// Whether the home folder is ``path``, or would be below it.
    private var isHome = false
    /// Whether the file was only to be read, so that it is the user's own choice.
    private var isOnlyRead = false
    /// The kind of object in the place of a file, if that is the cause: `a folder`, `a FIFO (named pipe)`, `a socket` or `a device`.
    public var kind: String?

    /// - Parameter errno: if the system denied permission, the owner of the path or of the nearest folder above it is looked up.
    init(_ code: Code, path: String, errno: Int32? = nil, user: FileUser = .current) {
        self.code = code
        self.path = path
        detail = errno.map(systemWords)
        if let errno, [EACCES, EPERM].contains(errno), let (place, status) = Self.nearestPlace(path),
            status.st_uid != user.id
        {
            self.path = place
            noteOwner(status, user)
        }
        if errno == ENOTDIR, let (place, status) = Self.nearestPlace(path), status.st_mode & S_IFMT == S_IFREG {
            self.path = place
            isInPlaceOfFolder = true
        }
    }

    init(_ code: Code, path: String, status: stat, user: FileUser = .current) {
        self.init(code, path: path)
        if code == .openFolder {
            isShared = status.st_mode & S_ISVTX != 0
        } else {
            kind = Self.kind(of: status)
        }
        if status.st_uid != user.id { noteOwner(status, user) }
    }

    /// The error for a folder that does not exist and could not be made.
    init(uncreated path: String, errno number: Int32, user: FileUser = .current) {
        self.init(.unwritable, path: path, errno: number, user: user)
        var status = stat()
        guard !isLeftBySudo, !isInPlaceOfFolder, lstat(path, &status) != 0, errno == ENOENT else { return }
        if let owner { detail = "\(self.path) belongs to \(owner)" }
        self.path = path
        isUncreated = true
        isHome = user.home == path || user.home?.hasPrefix(path + "/") == true
    }

    /// The error for something else than a file, in the place of a file that was to be read.
    init(reading path: String, status: stat) {
        self.init(.notPrivate, path: path, status: status)
        isOnlyRead = true
    }

    private mutating func noteOwner(_ status: stat, _ user: FileUser) {
        owner = status.st_uid == 0 ? "root" : "user \(status.st_uid)"
        isLeftBySudo = status.st_uid == 0 && user.id != 0 && user.hasHome(above: path)
        isFolder = code == .openFolder || status.st_mode & S_IFMT == S_IFDIR
    }

    static func kind(of status: stat) -> String? {
        switch status.st_mode & S_IFMT {
        // 0: the kind is unknown.
        case S_IFREG, S_IFLNK, 0: nil
        case S_IFDIR: "a folder"
        case S_IFIFO: "a FIFO (named pipe)"
        case S_IFSOCK: "a socket"
        default: device
        }
    }

    private static let device = "a device"

    /// Returns the path, or the nearest folder above it that exists.
    private static func nearestPlace(_ path: String) -> (String, stat)? {
        var (place, status) = (Substring(path), stat())
        while lstat(String(place), &status) != 0 {
            guard let slash = place.lastIndex(of: "/"), slash > place.startIndex else { return nil }
            place = place[..<slash]
        }
        return (String(place), status)
    }

    /// A folder that should have been made but does not exist.
    package static func missing(_ path: String) -> PrivateFileError {
        PrivateFileError(.unwritable, path: path, errno: ENOENT)
    }

    public var description: String {
        if let kind {
            // The system has a device, and needs it. What the user named for reading may be of use elsewhere.
            let advice =
                isOnlyRead
                ? "use a file instead" : kind == Self.device ? "use another path" : "remove it, or move it away"
            return "\(path) is \(kind), not a file: \(advice)"
        }
        if isInPlaceOfFolder { return "\(path) is a file, but must be a folder: move the file away" }
        if isUncreated {
            return isHome
                ? "the folder of HOME, \(path), does not exist: set HOME or XDG_STATE_HOME"
                : "the folder \(path) does not exist, and cannot be created: \(detail ?? "the system gives no reason")"
        }
        if let owner {
            return isLeftBySudo
                ? "\(path) belongs to \(owner), not to you, perhaps because of sudo: make yourself its owner with chown"
                : "\(path) belongs to \(owner), not to you: "
                    + (isFolder
                        ? "ask its owner to give it to you, or use another folder"
                        : "ask its owner to remove it or give it to you, or use another file")
        }
        return switch code {
        case .notPrivate: "\(path) is not private: take away the rights of other users (chmod 600), or remove it"
        case .writableByOthers:
            "others may write to \(path): make yourself its owner (chown), and take away the rights of others (chmod go-w)"
        case .openFolder:
            isShared
                ? "others may write to the folder \(path), which all users share: use a folder of your own"
                : "others may write to the folder \(path): take away their rights (chmod 700)"
        case .symbolicLink: "\(path) is a symbolic link: remove it"
        case .tooLarge: "\(path) is too large for a file of this program"
        case .locked: "another process still holds the lock \(path); try again when that process has ended"
        case .unreadable: "\(path) cannot be read: \(detail ?? "the system gives no reason")"
        case .unwritable: "\(path) cannot be written: \(detail ?? "the system gives no reason")"
        default: "\(path): \(detail ?? "\(code)")"
        }
    }
}

/// The user who runs the program, for messages about files of other users.
struct FileUser: Sendable {
    var id: uid_t
    /// The value of `HOME`.
    var home: String?

    static var current: FileUser { FileUser(id: geteuid(), home: getenv("HOME").map { String(cString: $0) }) }

    /// Returns whether a path is below the home folder, after links are resolved.
    func hasHome(above path: String) -> Bool {
        guard let home, home.hasPrefix("/"), let folder = Self.parts(home), let parts = Self.parts(path) else {
            return false
        }
        return !folder.isEmpty && parts.count > folder.count && parts.starts(with: folder)
    }

    /// Returns nil for a path that cannot be resolved.
    private static func parts(_ path: String) -> [Substring]? {
        guard let followed = realpath(path, nil) else { return nil }
        defer { free(followed) }
        return String(cString: followed).split(separator: "/")
    }
}
