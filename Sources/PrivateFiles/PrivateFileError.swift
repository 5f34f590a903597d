import Glibc

/// Why a private file was not read or written. It never quotes the content.
public struct PrivateFileError: Error, Sendable, Equatable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case unreadable, unwritable, notPrivate, symbolicLink, tooLarge, locked }
        private let value: Value
        public var description: String { value.rawValue }

        public static let unreadable = Code(value: .unreadable)
        public static let unwritable = Code(value: .unwritable)
        /// Others may read it, it belongs to someone else, or it is no plain file.
        public static let notPrivate = Code(value: .notPrivate)
        /// A link stands in its place, which could lead anywhere.
        public static let symbolicLink = Code(value: .symbolicLink)
        public static let tooLarge = Code(value: .tooLarge)
        /// Another process kept the lock for too long.
        public static let locked = Code(value: .locked)
    }

    public var code: Code
    public var path: String
    /// The system's words, where it had any.
    public var detail: String?

    init(_ code: Code, path: String, errno: Int32? = nil) {
        self.code = code
        self.path = path
        detail = errno.map { String(cString: strerror($0)) }
    }

    public var description: String {
        switch code {
        case .notPrivate: "\(path) is not private: make it yours alone (chmod 600), or remove it"
        case .symbolicLink: "\(path) is a symbolic link: remove it"
        case .tooLarge: "\(path) is larger than such a file can be"
        case .locked: "\(path) is locked by another process for too long"
        default: "\(path): \(detail ?? "\(code)")"
        }
    }
}
