// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit
import RainPrivateFiles

/// A private folder for one claim. Its path goes to programs that are started; what they write in it nobody else can read.
struct ClaimFolder: Sendable {
    private let location: String
    private let folder: PrivateFolder
    private static let maximumFile = 1 << 20

    init(below state: String, run: String) throws {
        location = "\(state)/claims/\(run)"
        let opened: PrivateFolder?
        do throws(PrivateFileError) {
            opened = try PrivateFolder.open(location, create: true)
        } catch {
            throw CommandFailure(.cannotWrite, message: "\(error)".asSentence)
        }
        guard let opened else {
            throw CommandFailure(.cannotWrite, message: "The folder \(location.onOneLine) cannot be made.")
        }
        folder = opened
    }

    func path(_ name: String) -> String { "\(location)/\(name)" }

    func write(_ name: String, _ content: Secret) throws {
        do throws(PrivateFileError) {
            try content.reveal { buffer throws(PrivateFileError) in try folder.replace(name, with: buffer) }
        } catch {
            throw CommandFailure(.cannotWrite, message: "\(error)".asSentence)
        }
    }

    /// What a program has written.
    func read(_ name: String) throws -> [UInt8] {
        // Programs write with the user's umask; the folder is private all the same.
        chmod(path(name), 0o600)
        do throws(PrivateFileError) {
            return try folder.read(name, maximumBytes: Self.maximumFile) ?? []
        } catch {
            throw CommandFailure(.badData, message: "\(error)".asSentence)
        }
    }

    func removeFile(_ name: String) { try? folder.remove(name) }

    /// Removes everything in it, and itself.
    func remove() {
        for name in ["rows.csv", "image.bin", "table.bin"] { removeFile(name) }
        rmdir(location)
    }
}

/// A file that does not exist yet, and that only its owner will read.
final class NewPrivateFile {
    private let path: String
    private let descriptor: Int32
    private var isTaken = false

    /// Makes it, empty. Throws `cannot_write`, also where there is such a file: it may be the only copy of a key.
    init(_ path: String) throws(CommandFailure) {
        // Nothing is kept of a file that is not ours: an object that is whole would remove it when it goes.
        let opened = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else {
            throw CommandFailure(
                .cannotWrite,
                message: "The image cannot be written to \(path.onOneLine): \(String(cString: strerror(errno))).")
        }
        (self.path, descriptor) = (path, opened)
    }

    func take(contentsOf source: String) throws(CommandFailure) {
        let input = open(source, O_RDONLY | O_CLOEXEC)
        defer { close(input) }
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(input, &chunk, chunk.count)
            if count == 0 { break }
            guard count > 0, write(descriptor, chunk, count) == count else {
                throw CommandFailure(
                    .cannotWrite,
                    message: "The image cannot be written to \(path.onOneLine): \(String(cString: strerror(errno))).")
            }
        }
        guard fsync(descriptor) == 0 else {
            throw CommandFailure(.cannotWrite, message: "The image cannot be written to \(path.onOneLine).")
        }
        isTaken = true
    }

    deinit {
        close(descriptor)
        if !isTaken { unlink(path) }
    }
}
