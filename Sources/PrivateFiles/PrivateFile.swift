import Glibc

/// A file that only its owner can read, replaced whole or not at all.
///
/// The file has mode 0600 and its folder 0700. A new content is written to a temporary file beside it, synced and renamed, so
/// that a reader, or a crash, sees the old content or the new one. A symbolic link in its place is refused.
public struct PrivateFile: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    private var folder: String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let joined = parts.joined(separator: "/")
        return joined.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : joined
    }

    /// The content, or nil where there is no such file.
    ///
    /// Throws `.tooLarge` beyond `maximumBytes`, `.notPrivate` where others may read or the file is someone else's, and
    /// `.symbolicLink`.
    public func read(maximumBytes: Int = 1 << 20) throws(PrivateFileError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP: throw PrivateFileError(.symbolicLink, path: path)
            default: throw PrivateFileError(.unreadable, path: path, errno: errno)
            }
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw PrivateFileError(.unreadable, path: path, errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw PrivateFileError(.notPrivate, path: path)
        }
        guard status.st_size <= maximumBytes else { throw PrivateFileError(.tooLarge, path: path) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw PrivateFileError(.unreadable, path: path, errno: errno)
            }
            bytes += chunk[..<count]
            guard bytes.count <= maximumBytes else { throw PrivateFileError(.tooLarge, path: path) }
        }
    }

    /// Replaces the content, and makes the folder first if it is missing. On return it is on the disk.
    public func write(_ bytes: [UInt8]) throws(PrivateFileError) {
        try Self.makeFolder(folder)
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
            throw PrivateFileError(.symbolicLink, path: path)
        }
        var template = Array("\(path).XXXXXX".utf8CString)
        // mkstemp makes the file with mode 0600, whatever the umask.
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw PrivateFileError(.unwritable, path: path, errno: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        do throws(PrivateFileError) {
            defer { close(descriptor) }
            try Self.writeAll(bytes, to: descriptor, path: path)
            guard fsync(descriptor) == 0 else { throw PrivateFileError(.unwritable, path: path, errno: errno) }
            guard rename(template, path) == 0 else { throw PrivateFileError(.unwritable, path: path, errno: errno) }
        } catch {
            unlink(template)
            throw error
        }
        Self.syncFolder(folder)
    }

    /// Removes the file; one that is not there is fine.
    public func remove() throws(PrivateFileError) {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw PrivateFileError(.unwritable, path: path, errno: errno)
        }
        Self.syncFolder(folder)
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(PrivateFileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                throw PrivateFileError(.unwritable, path: path, errno: errno)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Makes a folder and its parents, each new one with mode 0700.
    static func makeFolder(_ folder: String) throws(PrivateFileError) {
        var status = stat()
        if stat(folder, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw PrivateFileError(.unwritable, path: folder, errno: ENOTDIR)
            }
            return
        }
        let parent = PrivateFile(path: folder).folder
        if parent != folder, parent != "." { try makeFolder(parent) }
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw PrivateFileError(.unwritable, path: folder, errno: errno)
        }
    }

    /// Makes a rename last. A file system that cannot sync folders has done what it can.
    private static func syncFolder(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
