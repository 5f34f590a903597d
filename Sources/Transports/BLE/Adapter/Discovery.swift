// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// The scanner of one adapter, shared by all searches of this process, because BlueZ counts scans by connection to the bus.
///
/// If BlueZ does not start a scan, the start is retried while a search is running, for the first scan and after BlueZ ended one. Meanwhile
/// the reason why it cannot be started is recorded for those searches.
actor Discovery {
    /// The first pause after a failure, which BlueZ often needs right after an adapter was switched on. Each pause is twice the previous
    /// one.
    static let shortestPause = Duration.milliseconds(250)
    static let longestPause = Duration.seconds(4)

    private let start: @Sendable () async -> Result<Void, BluetoothError>
    private let stop: @Sendable () async -> Void
    private let isReady: @Sendable () -> Bool
    private let note: @Sendable (BluetoothError?) -> Void
    private let sleep: @Sendable (Duration) async throws -> Void
    private var users = 0
    private var isRunning = false
    /// The last change of the scanner; each waits for the previous one.
    private var last: Task<Result<Void, BluetoothError>, Never>?
    /// Retries the scan until it is cancelled or no search is running.
    private var repetition: Task<Void, Never>?
    private var isTroubled = false

    /// - Parameters:
    ///   - isReady: whether there is an adapter that can scan. Retries end without one, and restart when the adapter is back.
    ///   - note: called with the reason why searches receive nothing, and with nil when that is over.
    init(
        start: @escaping @Sendable () async -> Result<Void, BluetoothError>, stop: @escaping @Sendable () async -> Void,
        isReady: @escaping @Sendable () -> Bool = { true },
        note: @escaping @Sendable (BluetoothError?) -> Void = { _ in },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.start = start
        self.stop = stop
        self.isReady = isReady
        self.note = note
        self.sleep = sleep
    }

    /// Scans until ``leave()`` was called as often as this. Returns after the first attempt, even if it failed for a reason that may go
    /// away.
    ///
    /// - Throws: errors that do not go away by themselves: `accessDenied`, `blocked`, `radioLost`, `cancelled`.
    func join() async throws(BluetoothError) {
        users += 1
        guard case .failure(let error) = await adjust().value else { return }
        guard Self.mayPass(error) else {
            oneFewer()
            throw error
        }
        if repetition == nil { persist(error) }
    }

    /// NotReady comes right after an adapter was switched on, InProgress during another client's scan, and all others but these while BlueZ
    /// starts.
    private static func mayPass(_ error: BluetoothError) -> Bool {
        ![.accessDenied, .blocked, .radioLost, .cancelled].contains(error.code)
    }

    func leave() async {
        oneFewer()
        _ = await adjust().value
    }

    /// Starts a new scan for the running searches after BlueZ has ended one. Returns after the first attempt.
    func restart() async {
        isRunning = false
        guard case .failure(let error) = await adjust().value else { return }
        persist(error)
    }

    private func persist(_ error: BluetoothError) {
        guard users > 0, !isRunning else { return }
        tell(error)
        repetition?.cancel()
        repetition = Task { await self.repeatUntilRunning() }
    }

    private func oneFewer() {
        users -= 1
        if users == 0 { calm() }
    }

    private func adjust() -> Task<Result<Void, BluetoothError>, Never> {
        let before = last
        let task = Task { () -> Result<Void, BluetoothError> in
            _ = await before?.value
            return await settle()
        }
        last = task
        return task
    }

    private func settle() async -> Result<Void, BluetoothError> {
        if users > 0, !isRunning {
            isRunning = true
            let result = await start()
            if case .failure = result { isRunning = false } else { calm() }
            return result
        }
        if users == 0, isRunning {
            isRunning = false
            await stop()
        }
        return .success(())
    }

    // MARK: trying again

    private func repeatUntilRunning() async {
        var pause = Self.shortestPause
        while (try? await sleep(pause)) != nil, !Task.isCancelled {
            guard users > 0, !isRunning, isReady() else { return calm() }
            guard case .failure(let error) = await adjust().value, !Task.isCancelled else { return }
            tell(error)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func tell(_ error: BluetoothError) {
        isTroubled = true
        note(error)
    }

    private func calm() {
        repetition?.cancel()
        repetition = nil
        guard isTroubled else { return }
        isTroubled = false
        note(nil)
    }
}
