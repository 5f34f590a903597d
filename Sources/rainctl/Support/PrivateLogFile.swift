// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainPrivateFiles
import Synchronization

/// A file that lines are appended to, and that only its owner reads.
enum PrivateLogFile {
    /// The path of the first log that could not be written to its end: what is missing there is lost.
    static var incomplete: String? { firstIncomplete.withLock { $0 } }
    private static let firstIncomplete = Mutex<String?>(nil)

    /// Notes that a line could not be written. The first one of the process is reported as a warning.
    static func failed(_ failure: Int32, at path: String) {
        let isFirst = firstIncomplete.withLock { first in
            defer { first = first ?? path }
            return first == nil
        }
        guard isFirst else { return }
        Output(isJSON: false, isQuiet: false).warn(
            "The log cannot be written to \(path.onOneLine): \(systemWords(failure)).", reason: "cannot_write")
    }

    /// Throws `cannot_write` if the file cannot be opened, or others read it.
    static func open(_ path: String) throws(CommandFailure) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .cannotWrite, message: "The log cannot be written to \(path): \(systemWords(errno)).")
        }
        do throws(CommandFailure) {
            try makePrivate(descriptor, path)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        return descriptor
    }

    /// A file that was there before may be one that others read, or have made.
    private static func makePrivate(_ descriptor: Int32, _ path: String) throws(CommandFailure) {
        var status = stat()
        // A terminal, a pipe, /dev/null: whoever named it knows who reads it.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        guard status.st_uid == geteuid() else {
            throw CommandFailure(
                .cannotWrite,
                message: "The log is not written to \(path), which belongs to another user: name another file.")
        }
        guard status.st_mode & 0o077 != 0, fchmod(descriptor, 0o600) != 0 else { return }
        throw CommandFailure(
            .cannotWrite, message: "The log is not written to \(path), which others may read: run chmod 600 on it.")
    }
}
