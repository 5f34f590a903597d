import DBus

/// The scanner of one adapter, shared by everyone in this process who looks for a board: BlueZ counts by connection to the bus.
actor Discovery {
    private let start: @Sendable () async -> Result<Void, BluetoothError>
    private let stop: @Sendable () async -> Void
    private var users = 0
    private var isRunning = false
    /// The last change of the scanner; each waits for the one before.
    private var last: Task<Result<Void, BluetoothError>, Never>?

    init(
        start: @escaping @Sendable () async -> Result<Void, BluetoothError>, stop: @escaping @Sendable () async -> Void
    ) {
        self.start = start
        self.stop = stop
    }

    /// Scans until ``leave()`` was called as often as this.
    func join() async throws(BluetoothError) {
        users += 1
        let result = await adjust().value
        do {
            try result.get()
        } catch {
            users -= 1
            throw error
        }
    }

    func leave() async {
        users -= 1
        _ = await adjust().value
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
            if case .failure = result { isRunning = false }
            return result
        }
        if users == 0, isRunning {
            isRunning = false
            await stop()
        }
        return .success(())
    }

    /// BlueZ was restarted: whoever still looks wants a new scan.
    func restart() async {
        isRunning = false
        _ = await adjust().value
    }
}
