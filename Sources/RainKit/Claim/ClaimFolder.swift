// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainPrivateFiles

/// A private folder for one claim. Its path goes to programs that are started. Other users cannot read the files that these write in it.
///
/// While it is in use, its run holds a lock on its name. The next claim thereby recognizes the folders of runs that were killed, and
/// removes the keys in them.
struct ClaimFolder: Sendable {
    private var location: String
    private let keptLocation: String
    private let folder: PrivateFolder
    /// Held while this value exists, or until the process ends.
    private let lock: NameLock
    private static let maximumFile = 1 << 20
    private static let files = ["rows.csv", "image.bin", "table.bin"]
    /// The names of running claims' folders begin with it. Folders that are kept have another name.
    private static let prefix = "run-"

    /// - Throws: `cannot_write`.
    init(below state: String, run: String) throws(RainKitError) {
        let all = "\(state)/claims"
        let name = Self.prefix + run
        (location, keptLocation) = ("\(all)/\(name)", "\(all)/kept-\(run)")
        Self.removeAbandoned(in: all)
        let (lock, folder): (NameLock?, PrivateFolder?)
        do throws(PrivateFileError) {
            lock = try NameLock.take(name, beside: all)
            folder = try PrivateFolder.open(location, create: true)
        } catch {
            throw .cannotWrite("\(error)".asSentence)
        }
        guard let lock, let folder else {
            throw .cannotWrite("The folder \(location.onOneLine) cannot be created.")
        }
        (self.lock, self.folder) = (lock, folder)
    }

    /// Removes the folders of runs that were killed. One that cannot be removed does not stop this run.
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

    func write(_ name: String, _ content: Secret) throws(RainKitError) {
        do throws(PrivateFileError) {
            try content.reveal { buffer throws(PrivateFileError) in try folder.replace(name, with: buffer) }
        } catch {
            throw .cannotWrite("\(error)".asSentence)
        }
    }

    /// Reads a file that a program has written.
    func read(_ name: String) throws(RainKitError) -> [UInt8] {
        // Programs write with the user's umask. The folder is private anyway.
        chmod(path(name), 0o600)
        do throws(PrivateFileError) {
            return try folder.read(name, maximumBytes: Self.maximumFile) ?? []
        } catch {
            throw RainKitError(.request(.badData, reason: "bad_data"), message: "\(error)".asSentence)
        }
    }

    func removeFile(_ name: String) { try? folder.remove(name) }

    /// Renames it, so that no later claim removes it.
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

/// A new file that only its owner can read. It is removed again if nothing was written into it.
final class NewPrivateFile {
    private let path: String
    private let descriptor: Int32
    private var isTaken = false

    /// Makes the empty file.
    /// - Throws: `cannot_write`, also if the file exists: it may be the only copy of a key.
    init(_ path: String) throws(RainKitError) {
        // No property is set before the file is ours: a complete object removes the file in its deinit.
        let opened = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else {
            throw .cannotWrite("The image cannot be written to \(path.onOneLine): \(writeProblem(errno, at: path)).")
        }
        (self.path, descriptor) = (path, opened)
    }

    func take(contentsOf source: String) throws(RainKitError) {
        let input = open(source, O_RDONLY | O_CLOEXEC)
        defer { close(input) }
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(input, &chunk, chunk.count)
            if count == 0 { break }
            guard count > 0, write(descriptor, chunk, count) == count else {
                throw .cannotWrite(
                    "The image cannot be written to \(path.onOneLine): \(writeProblem(errno, at: path)).")
            }
        }
        guard fsync(descriptor) == 0 else {
            throw .cannotWrite("The image cannot be written to \(path.onOneLine).")
        }
        isTaken = true
    }

    deinit {
        close(descriptor)
        if !isTaken { unlink(path) }
    }
}

extension RainKitError {
    fileprivate static func cannotWrite(_ message: String) -> RainKitError {
        RainKitError(.request(.cannotWrite, reason: "cannot_write"), message: message)
    }
}
