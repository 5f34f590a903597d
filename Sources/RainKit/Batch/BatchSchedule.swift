// SPDX-License-Identifier: Apache-2.0

/// Which of a station's leased boards run now, and which wait for their turn.
///
/// A serial port serves one board at a time, and so does the machine's own Wi-Fi. Boards that share neither run at the same time, up to a
/// limit. Of the boards that may run, the one that was leased first is next, so none waits while later ones start.
struct BatchSchedule: Sendable {
    /// How many boards may run at the same time.
    let atOnce: Int
    private var waiting: [(board: LeasedBoard, place: String?)] = []
    private var running: [LedgerBoard.ID: String?] = [:]
    private var busy: Set<String> = []

    init(atOnce: Int) { self.atOnce = atOnce }

    /// How many boards may be leased now. A station keeps no more boards than it may run, so that others find work.
    var room: Int { max(0, atOnce - running.count - waiting.count) }

    var isIdle: Bool { running.isEmpty && waiting.isEmpty }

    /// Adds a leased board.
    /// - Parameter place: what only one board can use at a time, such as a serial port; nil if it shares nothing.
    mutating func add(_ board: LeasedBoard, place: String?) { waiting.append((board, place)) }

    /// Returns the board that starts now; nil if none can.
    mutating func next() -> LeasedBoard? {
        guard running.count < atOnce,
            let index = waiting.firstIndex(where: { entry in entry.place.map { !busy.contains($0) } ?? true })
        else { return nil }
        let (board, place) = waiting.remove(at: index)
        running[board.board.id] = .some(place)
        if let place { busy.insert(place) }
        return board
    }

    /// Frees the place of a board that has ended.
    mutating func ended(_ board: LedgerBoard.ID) {
        guard let place = running.removeValue(forKey: board) else { return }
        if let place { busy.remove(place) }
    }

    /// Takes out all boards that have not started.
    mutating func removeWaiting() -> [LeasedBoard] {
        defer { waiting = [] }
        return waiting.map(\.board)
    }
}

extension BoardAddress {
    /// What only one board of a batch can use at a time; nil if any number of boards can be reached this way at once.
    var exclusivePlace: String? {
        switch scheme {
        case "serial": "serial:\(location ?? "")"
        // With a host, this machine stays on its network. Otherwise it joins the network of one board.
        case "softap" where location == nil: "this machine's Wi-Fi"
        default: nil
        }
    }
}
