import Glibc
import Vocabulary

/// A folder of this user's that nobody else can write to, held open: all names below it are looked up in the folder that was
/// checked, even if its path leads elsewhere meanwhile.
final class PrivateFolder: Sendable {
    private let path: String
    private let descriptor: Int32

    /// A stored session is some kilobytes.
    private static let maximumBytes = 256 << 10

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Opens the folder; nil if there is none and none is to be made.
    static func open(_ path: String, create: Bool) throws(AccountError) -> PrivateFolder? {
        if create { try makeFolders(path) }
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw AccountError(.cannotStore, message: "\(path) cannot be opened as a folder: \(systemError())")
        }
        let folder = PrivateFolder(path: path, descriptor: descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid() else {
            throw AccountError(.cannotStore, message: "\(path) belongs to another user")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw AccountError(.cannotStore, message: "others may write to \(path): run chmod 700 on it")
        }
        return folder
    }

    deinit { close(descriptor) }

    // MARK: Files

    /// The file's bytes; nil if there is none.
    func read(_ name: String) throws(AccountError) -> Secret? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            let reason = errno == ELOOP ? "it is a symbolic link" : systemError()
            throw AccountError(.storeUnreadable, message: "\(path)/\(name) cannot be opened: \(reason)")
        }
        defer { close(file) }
        try check(file, name)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count == 0 { return Secret(bytes) }
            if count < 0 {
                if errno == EINTR { continue }
                throw AccountError(.storeUnreadable, message: "\(path)/\(name) cannot be read: \(systemError())")
            }
            bytes += buffer[..<count]
            guard bytes.count <= Self.maximumBytes else {
                throw AccountError(.storeUnreadable, message: "\(path)/\(name) is too long for a session")
            }
        }
    }

    /// Puts a new file in the place of the old one, or leaves the old one as it was.
    func replace(_ name: String, with contents: Secret) throws(AccountError) {
        // One fixed name, as the caller holds the lock: what a crash has left is taken away here.
        let temporary = ".\(name).new"
        unlinkat(descriptor, temporary, 0)
        let file = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw cannotStore(name) }
        let isWritten = fchmod(file, 0o600) == 0 && contents.reveal { write($0, to: file) } && fsync(file) == 0
        let failure = errno
        guard close(file) == 0, isWritten, renameat(descriptor, temporary, descriptor, name) == 0 else {
            if !isWritten { errno = failure }
            let error = cannotStore(name)
            unlinkat(descriptor, temporary, 0)
            throw error
        }
        fsync(descriptor)  // the rename itself; a file system that cannot do this has no later moment to tell us either
    }

    func remove(_ name: String) throws(AccountError) {
        unlinkat(descriptor, ".\(name).new", 0)
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else { throw cannotStore(name) }
        fsync(descriptor)
    }

    func openLock(_ name: String) throws(AccountError) -> FileLock {
        let file = openat(descriptor, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw cannotStore(name) }
        return FileLock(descriptor: file, path: "\(path)/\(name)")
    }

    private func check(_ file: Int32, _ name: String) throws(AccountError) {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw AccountError(.storeUnreadable, message: "\(path)/\(name) is not a file")
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw AccountError(
                .storeUnreadable,
                message: "others may read \(path)/\(name): run chmod 600 on it, or sign in again if they may have")
        }
    }

    private func cannotStore(_ name: String) -> AccountError {
        AccountError(.cannotStore, message: "\(path)/\(name) cannot be written: \(systemError())")
    }
}

/// An advisory lock (`flock`) on a file of its own, released when it is let go or its process dies.
final class FileLock: Sendable {
    private let descriptor: Int32
    private let path: String

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Whether it is ours now.
    func take() throws(AccountError) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            if errno == EWOULDBLOCK { return false }
            throw AccountError(.cannotStore, message: "\(path) cannot be locked: \(systemError())")
        }
        return true
    }

    func release() { flock(descriptor, LOCK_UN) }

    deinit { close(descriptor) }
}

private func makeFolders(_ path: String) throws(AccountError) {
    guard path.hasPrefix("/") else {
        throw AccountError(.invalidConfiguration, message: "\(path) is not an absolute path")
    }
    var made = ""
    for part in path.split(separator: "/") {
        made += "/" + part
        guard mkdir(made, 0o700) == 0 || errno == EEXIST else {
            throw AccountError(.cannotStore, message: "the folder \(made) cannot be made: \(systemError())")
        }
    }
}

private func write(_ bytes: UnsafeBufferPointer<UInt8>, to file: Int32) -> Bool {
    var rest = UnsafeRawBufferPointer(bytes)
    while !rest.isEmpty {
        let count = Glibc.write(file, rest.baseAddress, rest.count)
        if count > 0 {
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        } else if errno != EINTR {
            return false
        }
    }
    return true
}

private func systemError() -> String { String(cString: strerror(errno)) }
