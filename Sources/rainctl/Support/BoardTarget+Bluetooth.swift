import RainKit
import RainCore

extension BoardTarget {
    /// The one board that is heard, and that nobody on this machine talks to. Once the first is, others get a moment to be heard as well.
    static func onlyBoard(_ central: BluetoothCentral, by end: ContinuousClock.Instant) async throws
        -> BoardFilter
    {
        let heard = HeardBoards()
        let limit = min(.seconds(20), ContinuousClock.now.duration(to: end))
        try await central.discover(.anyBoard, for: limit, includesConnected: false) {
            await heard.add($0, isEnough: true)
        }
        if await !heard.boards.isEmpty {
            try await central.discover(.anyBoard, for: .milliseconds(1500), includesConnected: false) {
                await heard.add($0)
            }
        }
        let boards = await heard.boards
        guard let first = boards.first else {
            throw CommandFailure(
                .unavailable, reason: "not_found",
                message: "No board was heard over Bluetooth: check that it is powered, near, and in provisioning mode. "
                    + "One that this machine is connected to is taken only by its name (--device-name).")
        }
        guard boards.count == 1 else {
            let names = boards.map(\.label.onOneLine).sorted().joined(separator: " or ")
            throw CommandFailure(
                .usage, reason: "several_boards",
                message: "Several boards are heard: choose with --device-name \(names).")
        }
        return .address(first.address)
    }
}

/// What was heard so far.
actor HeardBoards {
    private(set) var boards: [DiscoveredBoard] = []

    /// True where listening goes on.
    func add(_ board: DiscoveredBoard, isEnough: Bool = false) -> Bool {
        if !boards.contains(where: { $0.address == board.address }) { boards.append(board) }
        return !isEnough
    }
}

extension BoardFilter {
    /// A name, or an address where it looks like one.
    static func named(_ text: String) -> BoardFilter {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let isAddress = parts.count == 6 && parts.allSatisfy { $0.utf8.count == 2 && UInt8($0, radix: 16) != nil }
        return isAddress ? .address(text) : .name(text)
    }
}
