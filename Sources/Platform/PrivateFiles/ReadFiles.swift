// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Tells contents of a file apart without reading it. Replacing or writing a file changes its version.
package struct FileVersion: Sendable, Equatable {
    private let device: dev_t
    private let inode: ino_t
    private let size: off_t
    private let modifiedSecond: Int
    private let modifiedNanosecond: Int
    /// The second of the last change. The kernel sets it, and programs cannot set it back.
    let changeSecond: Int
    private let changeNanosecond: Int

    /// Returns the version of the file at that path, after symbolic links; nil if it cannot be found.
    package init?(ofFileAt path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        (device, inode, size) = (status.st_dev, status.st_ino, status.st_size)
        (modifiedSecond, modifiedNanosecond) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        (changeSecond, changeNanosecond) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
    }
}

/// The results of reading files, by the paths and versions of the files. A server needs the same files for each request.
package final class ReadFiles: Sendable {
    /// The decoded documents.
    static let documents = ReadFiles()

    private struct Entry: Sendable {
        let version: FileVersion
        let result: any Sendable
    }

    private static let maximumCount = 16
    /// File systems count the time of a change in steps, of up to two seconds. Two changes in one step may give the same version. So a
    /// result is only kept if the step of the last change was over when the file was read.
    private static let clockStep = 3

    private let entries = Mutex<[String: Entry]>([:])
    private let now: @Sendable () -> Int

    /// - Parameter now: returns the seconds since 1970.
    package init(now: @escaping @Sendable () -> Int = { time(nil) }) { self.now = now }

    /// Returns what was kept for that version of the file.
    package func result(of path: String, _ version: FileVersion) -> (any Sendable)? {
        entries.withLock { entries in
            guard let entry = entries[path], entry.version == version else { return nil }
            return entry.result
        }
    }

    /// - Parameter version: that of the file before it was read.
    package func keep(_ result: some Sendable, of path: String, _ version: FileVersion) {
        guard now() - version.changeSecond >= Self.clockStep else { return }
        entries.withLock { entries in
            if entries.count >= Self.maximumCount, entries[path] == nil { entries.removeAll() }
            entries[path] = Entry(version: version, result: result)
        }
    }
}
