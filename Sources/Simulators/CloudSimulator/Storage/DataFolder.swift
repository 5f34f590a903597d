// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc

/// The folder of all the simulator's data, mode 0700. Its files have mode 0600, and each is written whole or not at all.
public final class DataFolder: Sendable {
    public let path: String
    let isTemporary: Bool
    private let owner: FolderOwner?

    /// Opens the folder at `path`, which is made if it is missing; or makes a temporary one, which ``removeIfTemporary()`` removes.
    public init(path given: String?) throws(SimulatorError) {
        if let given {
            isTemporary = false
            owner = nil
            guard mkdir(given, 0o700) == 0 || errno == EEXIST else { throw Self.failure("cannot make", given) }
            // Absolute, since the ready line names files in it.
            guard let absolute = realpath(given, nil) else { throw Self.failure("cannot find", given) }
            defer { free(absolute) }
            path = String(cString: absolute)
        } else {
            let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            Self.removeAbandoned(in: parent)
            var template = Array("\(parent)/\(Self.temporaryName)XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw Self.failure("cannot make a folder in", parent) }
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            isTemporary = true
            owner = FolderOwner(of: path)
        }
        for folder in ["nodes", "broker"] {
            guard mkdir(file(folder), 0o700) == 0 || errno == EEXIST else {
                throw Self.failure("cannot make", file(folder))
            }
        }
    }

    public func file(_ name: String) -> String { path + "/" + name }

    /// Returns the contents of a file; nil if there is none.
    func read(_ name: String) throws(SimulatorError) -> [UInt8]? {
        let descriptor = open(file(name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw Self.failure("cannot read", file(name)) }
            return nil
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while true {
            let part = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
                count = max(0, Glibc.read(descriptor, buffer.baseAddress!, buffer.count))
            }
            guard !part.isEmpty else { return bytes }
            bytes += part
        }
    }

    /// Replaces a file. It survives the death of the process, but not that of the machine: there is no `fsync`.
    func write(_ bytes: [UInt8], to name: String) throws(SimulatorError) {
        let target = file(name)
        let draft = target + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("cannot write", draft) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress!, $0.count) }
            guard count > 0 else {
                let error = Self.failure("cannot write", draft)
                close(descriptor)
                unlink(draft)
                throw error
            }
            rest = rest.dropFirst(count)
        }
        close(descriptor)
        guard rename(draft, target) == 0 else { throw Self.failure("cannot replace", target) }
    }

    /// Removes the folder only if this value made it.
    public func removeIfTemporary() {
        guard isTemporary else { return }
        Self.remove(path)
    }

    private static let temporaryName = "cloud-sim-"

    /// Removes the folders of simulators that were killed.
    private static func removeAbandoned(in parent: String) {
        for name in names(in: parent) where name.hasPrefix(temporaryName) {
            let folder = "\(parent)/\(name)"
            if let owner = FolderOwner(takingOver: folder) { withExtendedLifetime(owner) { remove(folder) } }
        }
    }

    private static func remove(_ path: String) {
        for folder in ["\(path)/nodes", "\(path)/broker", path] {
            for name in names(in: folder) { unlink(folder + "/" + name) }
            rmdir(folder)
        }
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func failure(_ what: String, _ path: String) -> SimulatorError {
        SimulatorError(.storage, "\(what) \(path): \(systemErrorText(errno)); choose another --data")
    }
}

/// Distinguishes a temporary folder in use from one that was left behind: a lock on a file in it, which ends with its process in any case.
public final class FolderOwner: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    private static func lock(_ folder: String) -> String { "\(folder)/lock" }

    /// Owns a folder that was just made. The lock file gets its name once it is locked, so that no other process finds it free.
    fileprivate convenience init?(of folder: String) {
        let draft = Self.lock(folder) + ".new"
        let descriptor = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        self.init(descriptor: descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, rename(draft, Self.lock(folder)) == 0 else { return nil }
    }

    /// Makes this process the only owner of the folder of `--data`, until the value is dropped. Creates the folder if it does not exist.
    ///
    /// - Throws: `unavailable` while another simulator has it.
    public convenience init(alone folder: String) throws(SimulatorError) {
        mkdir(folder, 0o700)
        // Not the lock of a temporary folder: this one is never removed.
        let descriptor = open("\(folder)/in-use", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw SimulatorError(
                .storage, "the data folder \(folder) cannot be used: \(systemErrorText(errno)); choose another --data")
        }
        self.init(descriptor: descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw SimulatorError(
                .unavailable,
                "another simulator uses the data in \(folder): stop that simulator, or choose another --data")
        }
    }

    /// Takes over a folder of this user whose owner is gone. Returns nil if the owner lives, or is not known.
    fileprivate convenience init?(takingOver folder: String) {
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            return nil
        }
        let descriptor = open(Self.lock(folder), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        self.init(descriptor: descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
    }
}
