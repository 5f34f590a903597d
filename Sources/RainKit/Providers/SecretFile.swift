// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainAccount
import RainCore

/// A secret in a file of the user's own.
enum SecretFile {
    /// The largest one that is read.
    static let maximumBytes = 4096

    /// The one line of the file (``FileText/secret(_:)``). A pipe is read to its end, and may take five seconds for each part.
    ///
    /// Throws `storeUnreadable` for a file that is not there, may not be read, is longer than a secret, does not hold one line of text, or
    /// that others may read too.
    static func contents(of path: String, name: String) throws(AccountError) -> Secret {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(name, path, String(cString: strerror(errno))) }
        defer { close(descriptor) }
        if isOpenToOthers(descriptor) {
            throw failure(name, path, "other users of this machine may read it; make it your own with chmod 600")
        }
        var buffer = [UInt8](repeating: 0, count: maximumBytes + 1)
        defer { for index in buffer.indices { buffer[index] = 0 } }
        var count = 0
        while count < buffer.count {
            // A pipe that nobody has opened for writing would look empty.
            guard hasMore(descriptor) else { throw failure(name, path, "nothing was written to it in time") }
            let room = buffer.count - count
            let more = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + count, room) }
            if more == 0 { break }
            guard more > 0 else {
                if errno == EINTR || errno == EAGAIN { continue }
                throw failure(name, path, String(cString: strerror(errno)))
            }
            count += more
        }
        guard count <= maximumBytes else { throw failure(name, path, "it is longer than \(maximumBytes) bytes") }
        do throws(FileText.Fault) {
            return Secret(try FileText.secret(buffer[..<count]))
        } catch {
            throw failure(name, path, "\(error)")
        }
    }

    /// Whether other users have rights to a file: all of them, or the group of one that is the user's own. What root hands to a service
    /// (systemd's credentials, whose access lists show as the group's rights) is for its user alone. A pipe is nobody else's.
    private static func isOpenToOthers(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return status.st_mode & S_IRWXO != 0 || status.st_uid == geteuid() && status.st_mode & S_IRWXG != 0
    }

    /// Whether there is something to read, or the end, within five seconds: at once for a file.
    private static func hasMore(_ descriptor: Int32) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let count = poll(&watched, 1, 5000)
            if count >= 0 || errno != EINTR { return count > 0 }
        }
    }

    private static func failure(_ name: String, _ path: String, _ why: String) -> AccountError {
        AccountError(.storeUnreadable, message: "the \(name) cannot be read from \(path): \(why)")
    }
}
