// SPDX-License-Identifier: Apache-2.0
import RainIO
import RainPrivateFiles
import Synchronization

extension PrivateFolder {
    /// Opens the folder of a store, which is created if it is missing, and runs `body` while holding the lock of that name.
    /// - Parameter leavesNothing: whether to remove the lock file at the end, because nothing may be stored under that name later.
    static func withStoreLock<Result: Sendable>(
        _ name: String, in path: String, within limit: Duration, leavesNothing: Bool = false,
        _ body: (PrivateFolder) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        guard path.hasPrefix("/") else {
            throw AccountError(.invalidConfiguration, message: "\(path) is not an absolute path")
        }
        let end = ContinuousClock.now + limit
        while true {
            let place = try LockedFolder(name, in: path)
            let fair = FileLocks.line(for: place.lock.path)
            let held = try await fair.enter(
                within: end - .now, orThrow: { waitingError($0, for: place.lock.path, limit) }
            ) { () throws(AccountError) in
                try FileLocks.take(place, for: fair)
            }
            defer {
                held.lock.release()
                // The next caller must not get the lock of a removed file. It would only pass that lock on, for ever.
                fair.leave { () throws(AccountError) in
                    try FileLocks.take(held.lock.isRemoved ? LockedFolder(name, in: path) : held, for: fair)
                }
            }
            // The previous holder removed the file, and others may have created a new one.
            if held.lock.isRemoved { continue }
            defer { if leavesNothing { try? held.folder.remove(name) } }
            return try await body(held.folder)
        }
    }
}

/// The folder of a store, and the lock of one name in it.
private struct LockedFolder: Sendable {
    let folder: PrivateFolder
    let lock: FileLock

    /// Opens the folder, which is created if it is missing, and the lock file. Does not take the lock.
    init(_ name: String, in path: String) throws(AccountError) {
        (folder, lock) = try storing { () throws(PrivateFileError) in
            guard let folder = try PrivateFolder.open(path, create: true) else {
                throw PrivateFileError.missing(path)
            }
            return (folder, try folder.lock(name))
        }
    }
}

/// Fair locks over lock files: any number of tasks can wait, with at most one thread for each file.
///
/// A `flock` can only be awaited by a blocked thread. One thread therefore waits for all tasks, and a task can give up at any time. After
/// the last one has given up, the thread still waits, and releases the lock as soon as it has it.
private enum FileLocks {
    /// One lock for each lock file that this process has used. There are as many as accounts.
    private static let lines = Mutex<[String: FairLock<LockedFolder, AccountError>]>([:])

    static func line(for path: String) -> FairLock<LockedFolder, AccountError> {
        lines.withLock { lines in
            if let line = lines[path] { return line }
            let line = FairLock<LockedFolder, AccountError>()
            lines[path] = line
            return line
        }
    }

    /// Returns the lock if it is free. Otherwise returns nil, and a thread waits for it.
    static func take(
        _ place: LockedFolder, for line: FairLock<LockedFolder, AccountError>
    ) throws(AccountError) -> LockedFolder? {
        if try storing({ () throws(PrivateFileError) in try place.lock.take() }) { return place }
        guard startThread({ wait(for: place, in: line) }) == 0 else {
            throw AccountError(.cannotStore, message: "no thread can be started to wait for \(place.lock.path)")
        }
        return nil
    }

    private static func wait(for place: LockedFolder, in line: FairLock<LockedFolder, AccountError>) {
        do throws(AccountError) {
            try storing { () throws(PrivateFileError) in try place.lock.wait() }
            if !line.arrive(place) { place.lock.release() }
        } catch {
            line.endAll(error)
        }
    }
}

/// Returns the error of a caller that stopped waiting for the lock of a store.
func waitingError(_ reason: GivenUp, for place: String, _ limit: Duration) -> AccountError {
    switch reason {
    case .timedOut:
        AccountError(
            .timeout,
            message: "another process has held \(place) for \(limit); try again when that process has finished")
    case .cancelled:
        AccountError(
            .cancelled, message: "cancelled while waiting for \(place)",
            unfinished: "another process still holds \(place)")
    }
}

/// Runs code that creates or changes files. Its failure is `cannotStore`.
func storing<Result>(_ body: () throws(PrivateFileError) -> Result) throws(AccountError) -> Result {
    do throws(PrivateFileError) {
        return try body()
    } catch {
        throw AccountError(.cannotStore, message: "\(error)")
    }
}

/// How long the lock of a stored session may be held, and how long others wait for it.
package enum StoreLockTimes {
    /// The maximum time for a renewal. Most renewals are one call to the provider. Some are several, of at most ten seconds each: discovery
    /// first, a form with redirects, a sign-out that has to renew.
    package static let longest = Duration.seconds(30)
    /// Longer than ``longest`` by the time that the store itself may need, so that nobody gives up while the holder is only slow.
    package static let wait = Duration.seconds(40)
}
