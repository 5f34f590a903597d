// SPDX-License-Identifier: Apache-2.0
import RainPrivateFiles
import Synchronization
import RainWaiting

extension PrivateFolder {
    /// Opens the folder of a store, which is made if it is missing, and runs `body` while holding the lock of that name.
    /// - Parameter leavesNothing: the lock's file is removed in the end, since nothing may ever be kept under that name.
    package static func withStoreLock<Result: Sendable>(
        _ name: String, in path: String, within limit: Duration, leavesNothing: Bool = false,
        _ body: (PrivateFolder) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        guard path.hasPrefix("/") else {
            throw AccountError(.invalidConfiguration, message: "\(path) is not an absolute path")
        }
        while true {
            let (folder, lock) = try storing { () throws(PrivateFileError) in
                guard let folder = try PrivateFolder.open(path, create: true) else {
                    throw PrivateFileError.missing(path)
                }
                return (folder, try folder.lock(name))
            }
            let fair = FileLocks.line(for: lock.path)
            let held = try await fair.enter(within: limit, orThrow: { waitingError($0, for: lock.path, limit) }) {
                () throws(AccountError) in
                try FileLocks.take(lock, for: fair)
            }
            defer {
                held.release()
                fair.leave { () throws(AccountError) in try FileLocks.take(held, for: fair) }
            }
            // The holder before took the file away: others may have made a new one.
            if held.isRemoved { continue }
            defer { if leavesNothing { try? folder.remove(name) } }
            return try await body(folder)
        }
    }
}

/// Fair locks over lock files: any number of tasks may wait, with at most one thread for each file.
///
/// A `flock` can only be awaited by a blocked thread. So one thread waits for all tasks, which may give up at any time. When the last
/// has given up, the thread waits on, and releases the lock as soon as it has it.
private enum FileLocks {
    /// One for each lock file that this process ever used: as many as it has accounts.
    private static let lines = Mutex<[String: FairLock<FileLock, AccountError>]>([:])

    static func line(for path: String) -> FairLock<FileLock, AccountError> {
        lines.withLock { lines in
            if let line = lines[path] { return line }
            let line = FairLock<FileLock, AccountError>()
            lines[path] = line
            return line
        }
    }

    /// The lock if it is free; otherwise nil, and a thread waits for it.
    static func take(_ lock: FileLock, for line: FairLock<FileLock, AccountError>) throws(AccountError) -> FileLock? {
        if try storing({ () throws(PrivateFileError) in try lock.take() }) { return lock }
        guard startThread({ wait(for: lock, in: line) }) == 0 else {
            throw AccountError(.cannotStore, message: "no thread can be started to wait for \(lock.path)")
        }
        return nil
    }

    private static func wait(for lock: FileLock, in line: FairLock<FileLock, AccountError>) {
        do throws(AccountError) {
            try storing { () throws(PrivateFileError) in try lock.wait() }
            if !line.arrive(lock) { lock.release() }
        } catch {
            line.endAll(error)
        }
    }
}

/// Why somebody stopped waiting for the lock of a store.
func waitingError(_ reason: GivenUp, for place: String, _ limit: Duration) -> AccountError {
    switch reason {
    case .timedOut:
        AccountError(
            .timeout, message: "another process has held \(place) for \(limit); try again when it is done")
    case .cancelled: AccountError(.cancelled, message: "cancelled while waiting for \(place)")
    }
}

/// Runs what makes or changes files; its failure is `cannotStore`.
package func storing<Result>(_ body: () throws(PrivateFileError) -> Result) throws(AccountError) -> Result {
    do throws(PrivateFileError) {
        return try body()
    } catch {
        throw AccountError(.cannotStore, message: "\(error)")
    }
}
