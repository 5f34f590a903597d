// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit
import RainPrivateFiles

/// A private folder for one claim. Its path goes to programs that are started; what they write in it nobody else can read.
///
/// As long as it is in use its run holds a lock on its name, so that the next claim knows the folders of runs that were killed, and removes
/// the keys in them.
struct ClaimFolder: Sendable {
    private var location: String
    private let keptLocation: String
    private let folder: PrivateFolder
    /// Held until the process ends, however it does.
    private let lock: NameLock
    private static let maximumFile = 1 << 20
    private static let files = ["rows.csv", "image.bin", "table.bin"]
    /// What the folders of running claims begin with: those that are kept have another name.
    private static let prefix = "run-"

    init(below state: String, run: String) throws {
        let all = "\(state)/claims"
        let name = Self.prefix + run
        (location, keptLocation) = ("\(all)/\(name)", "\(all)/kept-\(run)")
        Self.removeAbandoned(in: all)
        let (lock, folder): (NameLock?, PrivateFolder?)
        do throws(PrivateFileError) {
            lock = try NameLock.take(name, beside: all)
            folder = try PrivateFolder.open(location, create: true)
        } catch {
            throw CommandFailure(.cannotWrite, message: "\(error)".asSentence)
        }
        guard let lock, let folder else {
            throw CommandFailure(.cannotWrite, message: "The folder \(location.onOneLine) cannot be made.")
        }
        (self.lock, self.folder) = (lock, folder)
    }

    /// Removes what runs have left that were killed. What cannot be removed does not keep this one from its work.
    private static func removeAbandoned(in all: String) {
        guard let entries = opendir(all) else { return }
        var names: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasPrefix(prefix) { names.append(name) }
        }
        closedir(entries)
        for name in names {
            guard let lock = try? NameLock.take(name, beside: all),
                let folder = try? PrivateFolder.open("\(all)/\(name)", create: false)
            else { continue }
            for file in files { try? folder.remove(file) }
            rmdir(folder.path)
            withExtendedLifetime(lock) {}
        }
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

    /// Keeps it under a name that no later claim removes.
    mutating func keep() {
        if rename(location, keptLocation) == 0 { location = keptLocation }
    }

    func has(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

    /// Removes everything in it, and itself.
    func remove() {
        for name in Self.files { removeFile(name) }
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
                message: "The image cannot be written to \(path.onOneLine): \(systemWords(errno)).")
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
                    message: "The image cannot be written to \(path.onOneLine): \(systemWords(errno)).")
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
