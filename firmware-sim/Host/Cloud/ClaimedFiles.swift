// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Certificate and key of a claim, as the files that libmosquitto wants. They have no names and end with the process.
struct ClaimedFiles {
    let certificate: NamelessFile
    let key: NamelessFile

    init(certificate: [UInt8], key: [UInt8]) throws {
        self.certificate = try NamelessFile(certificate)
        self.key = try NamelessFile(key)
    }
}

/// A file that was unlinked at once; others of this process open it by its descriptor.
final class NamelessFile {
    private let descriptor: Int32
    var path: String { "/proc/self/fd/\(descriptor)" }

    init(_ bytes: [UInt8]) throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/firmware-sim-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw StartError("no temporary file: \(lastSystemError())") }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard bytes.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == bytes.count else {
            throw StartError("a temporary file cannot be written: \(lastSystemError())")
        }
    }

    deinit { close(descriptor) }
}
