// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An advisory lock (`flock`) on a file of its own, released when the object is dropped or its process dies.
///
/// The file stays: if it were removed, two processes could hold the lock at once, one on the old file and one on the new. Where files of
/// locks may be removed by their holders, everybody who has taken one looks at ``isRemoved`` and begins anew.
public final class FileLock: Sendable {
    private let descriptor: Int32
    /// Where the lock file is, which messages name.
    public let path: String

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Tries to take the lock without waiting; returns whether this object has it now.
    public func take() throws(PrivateFileError) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            if errno == EWOULDBLOCK { return false }
            throw PrivateFileError(.unwritable, path: path, errno: errno)
        }
        return true
    }

    /// Waits for it as long as it takes, blocking the thread.
    public func wait() throws(PrivateFileError) {
        while flock(descriptor, LOCK_EX) != 0 {
            if errno == EINTR { continue }
            throw PrivateFileError(.unwritable, path: path, errno: errno)
        }
    }

    /// Waits for it, blocking the thread: for holders that keep it no longer than it takes to replace a file.
    func take(within limit: Duration) throws(PrivateFileError) {
        let end = ContinuousClock.now + limit
        var pause: UInt32 = 500
        while try !take() {
            guard ContinuousClock.now < end else { throw PrivateFileError(.locked, path: path) }
            usleep(pause)
            pause = min(pause * 2, 20_000)
        }
    }

    /// Whether the file that it is held on has been removed: who takes the lock by its name then takes another one.
    public var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_nlink == 0
    }

    /// Lets others take the lock. Does nothing where it is not held.
    public func release() { flock(descriptor, LOCK_UN) }

    deinit { close(descriptor) }
}

/// A lock on a name, among all who lock names in the same file, in this process and in others. It is released when the object is dropped or
/// its process ends.
///
/// It is a lock on one byte of a file, at an offset computed from the name, so that any number of names need one file. If two names have
/// the same offset, a chance of one in 2^62, they exclude each other; nothing worse happens.
public final class NameLock: Sendable {
    private let descriptor: Int32

    /// Takes over the descriptor.
    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Never waits.
    /// - Parameter path: the file that the names belong to; the locks are on `.NAME.holds` beside it, which is made, and its folder with it.
    /// - Returns: nil while somebody else has the name.
    public static func take(_ name: String, beside path: String) throws(PrivateFileError) -> NameLock? {
        let (folder, file) = PrivateFile(path: path).place
        guard let folder = try PrivateFolder.open(folder, create: true) else { throw PrivateFileError.missing(path) }
        let lock = NameLock(descriptor: try folder.lockDescriptor(".\(file).holds"))
        var range = Glibc.flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = place(of: name)
        range.l_len = 1
        // Of the open file, not of the process: two runs in one process exclude each other as well.
        while fcntl(lock.descriptor, setOpenFileLock, &range) != 0 {
            switch errno {
            case EINTR: continue
            case EAGAIN, EACCES: return nil
            default: throw PrivateFileError(.unwritable, path: path, errno: errno)
            }
        }
        return lock
    }

    /// `F_OFD_SETLK` of Linux, which glibc's module leaves out.
    private static let setOpenFileLock: Int32 = 37

    /// FNV-1a, of 64 bits, without the two that a file's offset has no room for.
    private static func place(of name: String) -> Int {
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        return Int(hash >> 2)
    }
}
