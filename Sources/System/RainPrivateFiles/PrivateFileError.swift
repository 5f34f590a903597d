// SPDX-License-Identifier: Apache-2.0
import Glibc

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
        /// A link stands in its place, which could lead anywhere.
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

    init(_ code: Code, path: String, errno: Int32? = nil) {
        self.code = code
        self.path = path
        detail = errno.map { String(cString: strerror($0)) }
    }

    /// A folder that should have been made and is not there.
    package static func missing(_ path: String) -> PrivateFileError {
        PrivateFileError(.unwritable, path: path, errno: ENOENT)
    }

    public var description: String {
        switch code {
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
