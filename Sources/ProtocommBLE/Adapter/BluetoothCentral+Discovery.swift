/// Looking for boards.
extension BluetoothCentral {
    /// Scans, and hands over each board that fits as soon as it is heard, once, until `found` answers false or the time is over.
    ///
    /// - Parameter includesConnected: whether a board that somebody on this machine is connected to is handed over as well, though it
    ///   does not advertise.
    /// - Throws: what ails this machine (``BluetoothError/isOfThisMachine``), also where that comes about meanwhile, unless it is over
    ///   within seconds; `cancelled`. Hearing nothing is no error.
    public func discover(
        _ filter: BoardFilter, for time: Duration, includesConnected: Bool = true,
        found: @Sendable (DiscoveredBoard) async -> Bool
    ) async throws(BluetoothError) {
        try await discover(filter, for: time, where: { includesConnected || !$0.isConnected }, found: found)
    }

    func discover(
        _ filter: BoardFilter, for time: Duration, where isWanted: @escaping @Sendable (DiscoveredBoard) -> Bool,
        found: @Sendable (DiscoveredBoard) async -> Bool
    ) async throws(BluetoothError) {
        try await discovery.join()
        let result = await listen(filter, for: time, isWanted, found)
        await discovery.leave()
        try result.get()
    }

    private enum News {
        case boards([DiscoveredBoard])
        case trouble(BluetoothError?)
    }

    private func listen(
        _ filter: BoardFilter, for time: Duration, _ isWanted: @escaping @Sendable (DiscoveredBoard) -> Bool,
        _ found: @Sendable (DiscoveredBoard) async -> Bool
    ) async -> Result<Void, BluetoothError> {
        let end = ContinuousClock.now + time
        var seen: Set<String> = []
        var outage = Outage()
        let adapter = adapter
        let only = filter.path(below: adapter)
        while true {
            let (known, trouble) = (seen, outage.error?.code)
            let left = end - ContinuousClock.now
            do throws(BluetoothError) {
                guard left > .zero else { throw BluetoothError(.timeout, message: "The time is over.") }
                let news = try await watch.wait(
                    forAny: only.map { [$0, adapter] }, within: outage.left(of: left)
                ) { tree, change -> News? in
                    if change == .everything || change == .object(adapter) {
                        let now = AdapterChoice.trouble(with: adapter, in: tree)
                        if now?.code != trouble { return .trouble(now) }
                    }
                    // What is in the tree then was heard before.
                    guard trouble == nil else { return nil }
                    let boards = Self.boards(in: tree, after: change, below: adapter, only: only).filter {
                        !known.contains($0.path) && $0.isPresent && filter.matches($0) && isWanted($0)
                    }
                    return boards.isEmpty ? nil : .boards(boards.sorted(by: DiscoveredBoard.isLouder))
                }
                switch news {
                case .trouble(let error): outage.note(error)
                case .boards(let fresh):
                    for board in fresh {
                        seen.insert(board.path)
                        guard await found(board) else { return .success(()) }
                    }
                }
            } catch {
                guard error.code == .timeout else { return .failure(error) }
                return outage.error.map { .failure($0) } ?? .success(())
            }
        }
    }

    /// Those that a change may have to do with.
    private static func boards(
        in tree: ObjectTree, after change: ObjectTree.Change, below adapter: String, only: String?
    ) -> [DiscoveredBoard] {
        let paths: [String]
        switch (only, change) {
        case (let only?, _): paths = [only]
        case (nil, .object(let path)): paths = path.hasPrefix(adapter + "/dev_") ? [path] : []
        case (nil, _): paths = tree.paths(with: BlueZName.device, below: adapter)
        }
        return paths.compactMap { DiscoveredBoard(path: $0, in: tree) }
    }
}
