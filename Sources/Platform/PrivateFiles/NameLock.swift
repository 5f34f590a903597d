// SPDX-License-Identifier: Apache-2.0
import Glibc

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
