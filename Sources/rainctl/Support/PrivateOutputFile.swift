// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainPrivateFiles

/// A file that a user names for something with a secret in it.
enum PrivateOutputFile {
    /// Puts it in the place of what was there; only its owner reads it. Throws `cannot_write`.
    static func write(_ bytes: [UInt8], to path: String, name: String) throws(CommandFailure) {
        func failure() -> CommandFailure {
            CommandFailure(
                .cannotWrite,
                message: "The \(name) cannot be written to \(path.onOneLine): \(systemWords(errno)).")
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var status = stat()
        // A device or a pipe is what it is; a file may be one that others read.
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            guard fchmod(descriptor, 0o600) == 0, ftruncate(descriptor, 0) == 0 else { throw failure() }
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            rest = rest.dropFirst(count)
        }
    }
}
