// SPDX-License-Identifier: Apache-2.0

/// Listening for boards, in the scan that all share.
extension OpenAdapter {
    /// Scans, and hands over each board that is wanted as soon as it is heard.
    ///
    /// - Parameter heard: the addresses of boards that were handed over before; those that are now are added.
    func discover(
        _ filter: BoardFilter, until end: ContinuousClock.Instant, except heard: inout Set<String>,
        where isWanted: @escaping @Sendable (DiscoveredBoard) -> Bool,
        found: @Sendable (DiscoveredBoard) async -> Bool
    ) async throws(BluetoothError) {
        try await discovery.join()
        let result = await listen(filter, until: end, &heard, isWanted, found)
        await discovery.leave()
        try result.get()
    }

    private enum News {
        case boards([DiscoveredBoard])
        case trouble(BluetoothError?)
    }

    private func listen(
        _ filter: BoardFilter, until end: ContinuousClock.Instant, _ heard: inout Set<String>,
        _ isWanted: @escaping @Sendable (DiscoveredBoard) -> Bool,
        _ found: @Sendable (DiscoveredBoard) async -> Bool
    ) async -> Result<Void, BluetoothError> {
        var outage = AdapterLoss()
        let (chosen, adapter) = (chosen, path)
        let only = filter.path(below: adapter)
        while true {
            let (known, trouble) = (heard, outage.error?.code)
            let left = end - ContinuousClock.now
            do throws(BluetoothError) {
                guard left > .zero else { throw BluetoothError(.timeout, message: "The time is over.") }
                let news = try await watch.wait(
                    forAny: only.map { [$0, adapter] }, within: outage.left(of: left)
                ) { tree, change -> News? in
                    if change == .everything || change == .object(adapter) {
                        let now = chosen.trouble(in: tree) ?? tree.scanTrouble
                        if now?.code != trouble { return .trouble(now) }
                    }
                    // What is in the tree then was heard before.
                    guard trouble == nil else { return nil }
                    let boards = Self.boards(in: tree, after: change, below: adapter, only: only).filter {
                        !known.contains($0.address) && $0.isPresent && filter.matches($0) && isWanted($0)
                    }
                    return boards.isEmpty ? nil : .boards(boards.sorted(by: DiscoveredBoard.isLouder))
                }
                switch news {
                case .trouble(let error): outage.note(error)
                case .boards(let fresh):
                    for board in fresh {
                        heard.insert(board.address)
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
