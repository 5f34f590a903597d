// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An advisory lock (`flock`) on a separate file. It is released when the object is released or its process ends.
///
/// The file stays. If it were removed, two processes could hold the lock at once, one on the old file and one on the new one. If holders
/// may remove the lock files, each new holder checks ``isRemoved`` and then tries again.
public final class FileLock: Sendable {
    private let descriptor: Int32
    /// The path of the lock file, for messages.
    public let path: String

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Tries to take the lock without waiting. Returns whether this object has it now.
    public func take() throws(PrivateFileError) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            if errno == EWOULDBLOCK { return false }
            throw PrivateFileError(.unwritable, path: path, errno: errno)
        }
        return true
    }

    /// Waits for the lock without a limit, blocking the thread.
    public func wait() throws(PrivateFileError) {
        while flock(descriptor, LOCK_EX) != 0 {
            if errno == EINTR { continue }
            throw PrivateFileError(.unwritable, path: path, errno: errno)
        }
    }

    /// Waits for the lock, blocking the thread. For locks that are held only while a file is replaced.
    func take(within limit: Duration) throws(PrivateFileError) {
        let end = ContinuousClock.now + limit
        var pause: UInt32 = 500
        while try !take() {
            guard ContinuousClock.now < end else { throw PrivateFileError(.locked, path: path) }
            usleep(pause)
            pause = min(pause * 2, 20_000)
        }
    }

    /// Whether the lock's file has been removed. Then a process that takes the lock by its path takes another lock.
    public var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_nlink == 0
    }

    /// Releases the lock. Does nothing if it is not held.
    public func release() { flock(descriptor, LOCK_UN) }

    deinit { close(descriptor) }
}

/// A lock on a name, among all processes and objects that lock names in the same file. It is released when the object is released or its
/// process ends.
///
/// It is a lock on one byte of a file, at an offset computed from the name, so any number of names need one file. Two names have the same
/// offset with a chance of one in 2^62. Then they exclude each other; there is no other harm.
public final class NameLock: Sendable {
    private let descriptor: Int32

    /// Takes ownership of the descriptor.
    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Tries to take the lock without waiting.
    /// - Parameter path: the file to which the names belong. The locks are on `.NAME.holds` beside it. That file and its folder are
    ///   created.
    /// - Returns: nil if the name is already locked.
    public static func take(_ name: String, beside path: String) throws(PrivateFileError) -> NameLock? {
        let (folder, file) = PrivateFile(path: path).place
        guard let folder = try PrivateFolder.open(folder, create: true) else { throw PrivateFileError.missing(path) }
        let lock = NameLock(descriptor: try folder.lockDescriptor(".\(file).holds"))
        var range = Glibc.flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = place(of: name)
        range.l_len = 1
        // The lock belongs to the open file, not to the process, so two runs in one process exclude each other as well.
        while fcntl(lock.descriptor, setOpenFileLock, &range) != 0 {
            switch errno {
            case EINTR: continue
            case EAGAIN, EACCES: return nil
            default: throw PrivateFileError(.unwritable, path: path, errno: errno)
            }
        }
        return lock
    }

    /// `F_OFD_SETLK` of Linux, which Swift's Glibc module leaves out.
    private static let setOpenFileLock: Int32 = 37

    /// FNV-1a of 64 bits, without the two bits that do not fit in a file offset.
    private static func place(of name: String) -> Int {
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        return Int(hash >> 2)
    }
}
