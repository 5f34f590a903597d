import PrivateFiles

/// Tries until it is our turn, at once and then at growing intervals, as `flock` can only block a thread or refuse.
package func waitForTurn(
    within limit: Duration, at place: String, _ take: () throws(AccountError) -> Bool
) async throws(AccountError) {
    let end = ContinuousClock.now + limit
    var pause = Duration.milliseconds(2)
    while try !take() {
        guard ContinuousClock.now < end else {
            throw AccountError(
                .timeout, message: "another process has held \(place) for \(limit); try again when it is done")
        }
        do {
            try await Task.sleep(for: pause)
        } catch {
            throw AccountError(.cancelled, message: "cancelled while waiting for \(place)")
        }
        pause = min(pause * 2, .milliseconds(50))
    }
}

extension PrivateFolder {
    /// Opens the folder of a store, making it first, for `body`, which has its turn at the lock of that name.
    package static func withTurn<Result: Sendable>(
        _ lock: String, in path: String, within limit: Duration,
        _ body: (PrivateFolder) async throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        guard path.hasPrefix("/") else {
            throw AccountError(.invalidConfiguration, message: "\(path) is not an absolute path")
        }
        let (folder, lock) = try storing { () throws(PrivateFileError) in
            guard let folder = try PrivateFolder.open(path, create: true) else {
                throw PrivateFileError.missing(path)
            }
            return (folder, try folder.lock(lock))
        }
        try await waitForTurn(within: limit, at: lock.path) { () throws(AccountError) in
            try storing { () throws(PrivateFileError) in try lock.take() }
        }
        defer { lock.release() }
        return try await body(folder)
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
