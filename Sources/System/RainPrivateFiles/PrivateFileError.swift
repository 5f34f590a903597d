// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The system's words for an error number, with the cause where they do not name it.
package func systemWords(_ number: Int32) -> String {
    let words = String(cString: strerror(number))
    // Without a file of that size the cause is the process's own limit (setrlimit(2), RLIMIT_FSIZE).
    return number == EFBIG ? "the limit of the size of files is too low (ulimit -f; \(words))" : words
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

        /// The system does not let it be read; ``PrivateFileError/detail`` says why.
        public static let unreadable = Code(value: .unreadable)
        /// The file, its folder or its lock could not be made, replaced or removed; ``PrivateFileError/detail`` says why.
        public static let unwritable = Code(value: .unwritable)
        /// Others may read it, it belongs to someone else, or it is no plain file.
        public static let notPrivate = Code(value: .notPrivate)
        /// Its folder is one that others may write to, or someone else's.
        public static let openFolder = Code(value: .openFolder)
        /// There is a link in its place, which could lead anywhere.
        public static let symbolicLink = Code(value: .symbolicLink)
        /// Somebody else may write it, or owns it.
        public static let writableByOthers = Code(value: .writableByOthers)
        /// It has more bytes than the caller allows.
        public static let tooLarge = Code(value: .tooLarge)
        /// Another process kept the lock for too long.
        public static let locked = Code(value: .locked)
    }

    /// The kind of failure; the description says what to do about it.
    public var code: Code
    /// The file or folder that the failure is about.
    public var path: String
    /// The system's words, where it had any.
    public var detail: String?
    /// The other user that the file or folder belongs to, if that is the cause: `root`, as after `sudo`, or `user 1000`.
    public var owner: String?
    /// What is in the place of a file, if that is the cause: `a folder`, `a FIFO (named pipe)`, `a socket` or `a device`.
    public var kind: String?

    /// - Parameter errno: if the system denied permission, the owner of the path is looked up, or of the nearest folder above it.
    init(_ code: Code, path: String, errno: Int32? = nil) {
        self.code = code
        self.path = path
        detail = errno.map(systemWords)
        if let errno, [EACCES, EPERM].contains(errno), let denied = Self.foreignPlace(path) {
            (self.path, owner) = denied
        }
    }

    init(_ code: Code, path: String, status: stat) {
        self.init(code, path: path)
        if code != .openFolder { kind = Self.kind(of: status) }
        if status.st_uid != geteuid() { owner = Self.name(of: status.st_uid) }
    }

    static func kind(of status: stat) -> String? {
        switch status.st_mode & S_IFMT {
        // 0: nothing is known of it.
        case S_IFREG, S_IFLNK, 0: nil
        case S_IFDIR: "a folder"
        case S_IFIFO: "a FIFO (named pipe)"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }

    private static func name(of user: uid_t) -> String { user == 0 ? "root" : "user \(user)" }

    /// The path, or the nearest folder above it that exists, if it belongs to another user.
    private static func foreignPlace(_ path: String) -> (String, String)? {
        var (place, status) = (Substring(path), stat())
        while lstat(String(place), &status) != 0 {
            guard let slash = place.lastIndex(of: "/"), slash > place.startIndex else { return nil }
            place = place[..<slash]
        }
        return status.st_uid == geteuid() ? nil : (String(place), name(of: status.st_uid))
    }

    /// A folder that should have been made and is not there.
    package static func missing(_ path: String) -> PrivateFileError {
        PrivateFileError(.unwritable, path: path, errno: ENOENT)
    }

    public var description: String {
        if let kind { return "\(path) is \(kind), not a file: remove it, or move it away" }
        if let owner { return "\(path) belongs to \(owner), not to you, as after sudo: give it back with chown" }
        return switch code {
        case .notPrivate: "\(path) is not private: make it yours alone (chmod 600), or remove it"
        case .writableByOthers: "somebody else may write \(path): chown it to yourself and chmod go-w"
        case .openFolder: "others may write to the folder \(path): make it yours alone (chmod 700)"
        case .symbolicLink: "\(path) is a symbolic link: remove it"
        case .tooLarge: "\(path) is larger than such a file can be"
        case .locked: "\(path) is locked by another process for too long"
        case .unreadable: "\(path) cannot be read: \(detail ?? "the system does not say why")"
        case .unwritable: "\(path) cannot be written: \(detail ?? "the system does not say why")"
        default: "\(path): \(detail ?? "\(code)")"
        }
    }
}
