// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An open folder of this user to which nobody else can write. All names below it are looked up in the checked folder, even if its path
/// leads elsewhere meanwhile.
///
/// Files in it have mode 0600 whatever the umask. Content is written to a temporary file, synced and renamed. So a reader, or a crash, sees
/// the old content or the new one. Symbolic links are refused, as the folder and in it.
public final class PrivateFolder: Sendable {
    /// The folder's path when it was opened, for messages.
    public let path: String
    private let descriptor: Int32

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Opens the folder; nil if it does not exist and is not to be created. A new folder and its new parents have mode 0700.
    ///
    /// Throws `openFolder` if others may write, `symbolicLink` for a link, `unwritable` for any other problem.
    public static func open(_ path: String, create: Bool) throws(PrivateFileError) -> PrivateFolder? {
        if create { try make(path) }
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = errno
            if reason == ENOENT { return nil }
            var status = stat()
            if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
                throw PrivateFileError(.symbolicLink, path: path)
            }
            throw PrivateFileError(.unwritable, path: path, errno: reason)
        }
        let folder = PrivateFolder(path: path, descriptor: descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw PrivateFileError(.openFolder, path: path, status: status)
        }
        return folder
    }

    deinit { close(descriptor) }

    // MARK: Files

    /// Returns the file's bytes; nil if the file does not exist.
    ///
    /// Throws `tooLarge` beyond `maximumBytes`, `notPrivate` if others may read it, it belongs to another user or it is not a regular file,
    /// and `symbolicLink`.
    public func read(_ name: String, maximumBytes: Int) throws(PrivateFileError) -> [UInt8]? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP: throw PrivateFileError(.symbolicLink, path: full(name))
            // A socket, or a device that does not exist.
            case ENXIO: throw PrivateFileError(.notPrivate, path: full(name), status: self.entry(name))
            default: throw PrivateFileError(.unreadable, path: full(name), errno: errno)
            }
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0
        else { throw PrivateFileError(.notPrivate, path: full(name), status: status) }
        return try readAll(file, path: full(name), maximumBytes: maximumBytes)
    }

    /// Returns the version of a file that ``read(_:maximumBytes:)`` would read; nil for any other.
    func version(of name: String) -> FileVersion? {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_mode & 0o077 == 0
        else { return nil }
        return FileVersion(status)
    }

    /// Replaces the file, or leaves the old one unchanged. On return the new file is on the disk.
    ///
    /// Only for the holder of the file's lock: the temporary file always has the same name, so that a write removes the remains of a crash.
    public func replace(_ name: String, with bytes: UnsafeBufferPointer<UInt8>) throws(PrivateFileError) {
        try refuseOthers(name)
        let temporary = try writeTemporary(name, bytes)
        guard renameat(descriptor, temporary, descriptor, name) == 0 else {
            let error = PrivateFileError(.unwritable, path: full(name), errno: errno)
            unlinkat(descriptor, temporary, 0)
            throw error
        }
        fsync(descriptor)  // the rename itself; a file system without this reports nothing later either
    }

    /// Replaces the file with the bytes of an array.
    public func replace(_ name: String, with bytes: [UInt8]) throws(PrivateFileError) {
        try bytes.withUnsafeBufferPointer { buffer throws(PrivateFileError) in try replace(name, with: buffer) }
    }

    /// Checks whether a file of that many bytes could replace this one, and changes nothing. Only for the holder of the file's lock.
    public func probe(_ name: String, count: Int) throws(PrivateFileError) {
        try refuseOthers(name)
        let bytes = [UInt8](repeating: 0x20, count: count)
        let temporary = try bytes.withUnsafeBufferPointer { buffer throws(PrivateFileError) in
            try writeTemporary(name, buffer)
        }
        unlinkat(descriptor, temporary, 0)
    }

    /// Removes the file. It is not an error if the file does not exist.
    public func remove(_ name: String) throws(PrivateFileError) {
        unlinkat(descriptor, ".\(name).new", 0)
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw PrivateFileError(.unwritable, path: full(name), errno: errno)
        }
        fsync(descriptor)
    }

    /// Makes an empty file if the file is missing, and checks that it is private. The file is not opened: if this process has locked it elsewhere,
    /// closing a descriptor of it would release those locks (fcntl(2), "Advisory record locking").
    ///
    /// Throws `notPrivate`, `symbolicLink` and `unwritable`.
    /// - Returns: the file's path; links in the folder's path are resolved.
    package func prepareFile(_ name: String) throws(PrivateFileError) -> String {
        if mknodat(descriptor, name, S_IFREG | 0o600, 0) == 0 {
            // A umask may have removed these bits.
            fchmodat(descriptor, name, 0o600, 0)
            fsync(descriptor)
        } else if errno != EEXIST {
            throw PrivateFileError(.unwritable, path: full(name), errno: errno)
        }
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw PrivateFileError(.unwritable, path: full(name), errno: errno)
        }
        if status.st_mode & S_IFMT == S_IFLNK { throw PrivateFileError(.symbolicLink, path: full(name)) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw PrivateFileError(.notPrivate, path: full(name), status: status)
        }
        guard let resolved = realpath(path, nil) else {
            throw PrivateFileError(.unwritable, path: path, errno: errno)
        }
        defer { free(resolved) }
        return String(cString: resolved) + "/" + name
    }

    /// Returns the lock on a file of that name, which is created if it is missing. The lock is not taken yet.
    public func lock(_ name: String) throws(PrivateFileError) -> FileLock {
        FileLock(descriptor: try lockDescriptor(name), path: full(name))
    }

    /// Opens a file for locks, which the caller closes.
    func lockDescriptor(_ name: String) throws(PrivateFileError) -> Int32 {
        let file = openat(descriptor, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard file >= 0 else {
            if errno == ELOOP { throw PrivateFileError(.symbolicLink, path: full(name)) }
            throw PrivateFileError(.unwritable, path: full(name), errno: errno)
        }
        // A umask may have removed these bits, and then nobody could open the file again.
        fchmod(file, 0o600)
        return file
    }

    // MARK: Steps

    private func full(_ name: String) -> String { path == "/" ? "/\(name)" : "\(path)/\(name)" }

    private func entry(_ name: String) -> stat {
        var status = stat()
        fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW)
        return status
    }

    /// Only a regular file is replaced.
    private func refuseOthers(_ name: String) throws(PrivateFileError) {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFLNK: throw PrivateFileError(.symbolicLink, path: full(name))
        default: throw PrivateFileError(.unwritable, path: full(name), status: status)
        }
    }

    /// Leaves a complete, synced file behind, or no file.
    private func writeTemporary(
        _ name: String, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(PrivateFileError) -> String {
        let temporary = ".\(name).new"
        unlinkat(descriptor, temporary, 0)
        let file = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw PrivateFileError(.unwritable, path: full(name), errno: errno) }
        let isWritten = fchmod(file, 0o600) == 0 && writeAll(bytes, to: file) && fsync(file) == 0
        var reason = errno
        let isClosed = close(file) == 0
        if isWritten { reason = errno }
        guard isWritten, isClosed else {
            unlinkat(descriptor, temporary, 0)
            throw PrivateFileError(.unwritable, path: full(name), errno: reason)
        }
        return temporary
    }

    /// Makes a folder and its parents, each new one with mode 0700 whatever the umask.
    private static func make(_ path: String) throws(PrivateFileError) {
        var status = stat()
        if stat(path, &status) == 0 { return }
        let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        if !parent.isEmpty { try make(parent) }
        if mkdir(path, 0o700) == 0 {
            chmod(path, 0o700)
        } else if errno != EEXIST {
            throw PrivateFileError(uncreated: path, errno: errno)
        }
    }
}

private func readAll(_ file: Int32, path: String, maximumBytes: Int) throws(PrivateFileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while true {
        let count = Glibc.read(file, &chunk, chunk.count)
        if count == 0 { return bytes }
        if count < 0 {
            if errno == EINTR { continue }
            throw PrivateFileError(.unreadable, path: path, errno: errno)
        }
        bytes += chunk[..<count]
        guard bytes.count <= maximumBytes else { throw PrivateFileError(.tooLarge, path: path) }
    }
}

private func writeAll(_ bytes: UnsafeBufferPointer<UInt8>, to file: Int32) -> Bool {
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

/// One file that only its owner can read, replaced whole or not at all, for the processes of one user.
///
/// It gives the guarantees of ``PrivateFolder`` for a single file. A change holds the file's lock, `.NAME.lock` beside it.
public struct PrivateFile: Sendable {
    /// The file's path: absolute, or relative to the working directory.
    public let path: String

    public init(path: String) { self.path = path }

    /// A change reads and replaces one small file. A process that takes longer hangs.
    private static let turnLimit = Duration.seconds(5)

    package var place: (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let folder = String(path[..<slash])
        return (folder.isEmpty ? "/" : folder, String(path[path.utf8.index(after: slash)...]))
    }

    /// Returns the content; nil if the file does not exist.
    ///
    /// Throws `.tooLarge` beyond `maximumBytes`, `.notPrivate` if others may read the file or it belongs to another user, and
    /// `.symbolicLink`.
    public func read(maximumBytes: Int = 1 << 20) throws(PrivateFileError) -> [UInt8]? {
        let (folder, name) = place
        return try PrivateFolder.open(folder, create: false)?.read(name, maximumBytes: maximumBytes)
    }

    /// Replaces the content, and makes the folder first if it is missing. On return the content is on the disk.
    public func write(_ bytes: [UInt8]) throws(PrivateFileError) {
        try exclusively { folder, name throws(PrivateFileError) in try folder.replace(name, with: bytes) }
    }

    /// Removes the file. It is not an error if the file does not exist.
    public func remove() throws(PrivateFileError) {
        let (folder, _) = place
        guard try PrivateFolder.open(folder, create: false) != nil else { return }
        try exclusively { folder, name throws(PrivateFileError) in try folder.remove(name) }
    }

    /// Lets `body` make the new content from the old one while no other process can; nil removes the file.
    /// - Returns: the result of `body` beside the content.
    public func update<Result>(
        maximumBytes: Int = 1 << 20,
        _ body: ([UInt8]?) throws -> (content: [UInt8]?, result: Result)
    ) throws -> Result {
        let (folder, name) = place
        let turn = try turn(in: folder, name)
        defer { turn.lock.release() }
        let old = try turn.folder.read(name, maximumBytes: maximumBytes)
        let new = try body(old)
        if let content = new.content {
            // A file that is too long to read would be lost with its whole content.
            guard content.count <= maximumBytes else { throw PrivateFileError(.tooLarge, path: path) }
            if content != old { try turn.folder.replace(name, with: content) }
        } else if old != nil {
            try turn.folder.remove(name)
        }
        return new.result
    }

    private func exclusively(
        _ body: (PrivateFolder, String) throws(PrivateFileError) -> Void
    ) throws(PrivateFileError) {
        let (folder, name) = place
        let turn = try turn(in: folder, name)
        defer { turn.lock.release() }
        try body(turn.folder, name)
    }

    private func turn(
        in path: String, _ name: String
    ) throws(PrivateFileError) -> (folder: PrivateFolder, lock: FileLock) {
        guard let folder = try PrivateFolder.open(path, create: true) else {
            throw PrivateFileError.missing(path)
        }
        let lock = try folder.lock(".\(name).lock")
        try lock.take(within: Self.turnLimit)
        return (folder, lock)
    }
}
