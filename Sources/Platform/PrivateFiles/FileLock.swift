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
