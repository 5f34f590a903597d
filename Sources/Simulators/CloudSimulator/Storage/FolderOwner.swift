// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Tells a temporary folder that somebody uses from one that was left behind: a lock on a file in it, which goes with its process however
/// that ends.
final class FolderOwner: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    private static func lock(_ folder: String) -> String { "\(folder)/lock" }

    /// The owner of a folder that was just made. The lock file gets its name once it is locked, so that nobody finds it free.
    convenience init?(of folder: String) {
        let draft = Self.lock(folder) + ".new"
        let descriptor = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        self.init(descriptor: descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, rename(draft, Self.lock(folder)) == 0 else { return nil }
    }

    /// The next owner of a folder of this user's whose owner is gone; nil where it lives, or where nothing says whose the folder is.
    convenience init?(takingOver folder: String) {
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
