// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file of the user that others may read but not write, because its content decides where secrets are sent.
public enum OwnedFile {
    /// Returns the file's bytes; nil if the file does not exist.
    ///
    /// Throws `writableByOthers` unless it belongs to the user or to root, `notPrivate` if it is not a regular file, `tooLarge`,
    /// `unreadable`.
    public static func contents(of path: String, maximumBytes: Int) throws(PrivateFileError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let reason = errno
            if reason == ENOENT { return nil }
            var status = stat()
            // A socket, or a device that does not exist.
            if reason == ENXIO, stat(path, &status) == 0 {
                throw PrivateFileError(reading: path, status: status)
            }
            throw PrivateFileError(.unreadable, path: path, errno: reason)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PrivateFileError(reading: path, status: status)
        }
        guard [0, geteuid()].contains(status.st_uid), status.st_mode & 0o022 == 0 else {
            throw PrivateFileError(.writableByOthers, path: path)
        }
        var bytes = [UInt8](repeating: 0, count: maximumBytes + 1)
        var count = 0
        while count < bytes.count {
            let room = bytes.count - count
            let more = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + count, room) }
            if more == 0 { break }
            guard more > 0 else {
                if errno == EINTR { continue }
                throw PrivateFileError(.unreadable, path: path, errno: errno)
            }
            count += more
        }
        guard count <= maximumBytes else { throw PrivateFileError(.tooLarge, path: path) }
        return Array(bytes[..<count])
    }
}
