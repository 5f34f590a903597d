// SPDX-License-Identifier: Apache-2.0

/// One file that only its owner can read, replaced whole or not at all, for the processes of one user.
///
/// What ``PrivateFolder`` promises, for a single file. A change holds its lock, `.NAME.lock` beside it.
public struct PrivateFile: Sendable {
    /// Where the file is: absolute, or relative to the working directory.
    public let path: String

    public init(path: String) { self.path = path }

    /// A change reads and replaces one small file; a process that takes longer is stuck.
    private static let turnLimit = Duration.seconds(5)

    var place: (folder: String, name: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.dropLast().joined(separator: "/")
        return (folder.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : folder, String(parts.last ?? ""))
    }

    /// The content, or nil where there is no such file.
    ///
    /// Throws `.tooLarge` beyond `maximumBytes`, `.notPrivate` where others may read or the file is someone else's, and
    /// `.symbolicLink`.
    public func read(maximumBytes: Int = 1 << 20) throws(PrivateFileError) -> [UInt8]? {
        let (folder, name) = place
        return try PrivateFolder.open(folder, create: false)?.read(name, maximumBytes: maximumBytes)
    }

    /// Replaces the content, and makes the folder first if it is missing. On return it is on the disk.
    public func write(_ bytes: [UInt8]) throws(PrivateFileError) {
        try exclusively { folder, name throws(PrivateFileError) in try folder.replace(name, with: bytes) }
    }

    /// Removes the file; one that is not there is fine.
    public func remove() throws(PrivateFileError) {
        let (folder, _) = place
        guard try PrivateFolder.open(folder, create: false) != nil else { return }
        try exclusively { folder, name throws(PrivateFileError) in try folder.remove(name) }
    }

    /// Lets `body` make a new content of the old one while no other process can; nil removes the file.
    /// - Returns: what `body` returns beside the content.
    public func update<Result>(
        maximumBytes: Int = 1 << 20,
        _ body: ([UInt8]?) throws -> (content: [UInt8]?, result: Result)
    ) throws -> Result {
        let (folder, name) = place
        let turn = try turn(in: folder, name)
        defer { turn.lock.release() }
        let old = try turn.folder.read(name, maximumBytes: maximumBytes)
        let new = try body(old)
        if let content = new.content {
            // A file that is too long to be read again would be lost with everything in it.
            guard content.count <= maximumBytes else { throw PrivateFileError(.tooLarge, path: path) }
            if content != old { try turn.folder.replace(name, with: content) }
        } else if old != nil {
            try turn.folder.remove(name)
        }
        return new.result
    }

    private func exclusively(
        _ body: (PrivateFolder, String) throws(PrivateFileError) -> Void
    ) throws(PrivateFileError) {
        let (folder, name) = place
        let turn = try turn(in: folder, name)
        defer { turn.lock.release() }
        try body(turn.folder, name)
    }

    private func turn(
        in path: String, _ name: String
    ) throws(PrivateFileError) -> (folder: PrivateFolder, lock: FileLock) {
        guard let folder = try PrivateFolder.open(path, create: true) else {
            throw PrivateFileError.missing(path)
        }
        let lock = try folder.lock(".\(name).lock")
        try lock.take(within: Self.turnLimit)
        return (folder, lock)
    }
}
