// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainCore
import RainIO

extension RainKitClient {
    /// Returns the transport of an address. Throws `invalidArgument` if no transport has its scheme.
    public func transport(for address: BoardAddress) throws -> any BoardTransport {
        try RainKitError.rethrowing { () throws(BoardError) in try registeredTransport(for: address) }
    }

    func registeredTransport(for address: BoardAddress) throws(BoardError) -> any BoardTransport {
        if let found = configuration.transports.first(where: { $0.scheme == address.scheme }) { return found }
        let known = configuration.transports.map(\.scheme).joined(separator: ", ")
        throw BoardError(
            .invalidArgument, message: "There is no transport \"\(address.scheme)\"; the transports are \(known).")
    }

    /// Finds boards that wait to be provisioned, over all transports at once. Each board is reported as soon as it is found, and once.
    ///
    /// The stream ends when the search's time is over, and the search stops when the loop is left. It throws `RainKitError` if a
    /// transport failed and no other one found a board. If others found boards, `unavailable` is called for each transport that failed. It
    /// throws `invalidArgument` for an unknown scheme.
    ///
    /// - Parameters:
    ///   - schemes: the transports to use; if nil, all that can find boards without a network.
    public func boards(
        _ search: BoardSearch = BoardSearch(), over schemes: Set<String>? = nil,
        unavailable: @escaping @Sendable (BoardError) -> Void = { _ in }
    ) -> AsyncThrowingStream<FoundBoard, any Error> {
        let transports = configuration.transports.filter { transport in
            // Transports for boards that have a network are used only if requested.
            transport.canDiscover && (schemes?.contains(transport.scheme) ?? !transport.isForConnectedBoards)
        }
        var search = search
        search.logger = search.logger ?? configuration.logger
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: FoundBoard.self)
        // The stream ends it: when its last listener is gone, the search is cancelled.
        let looking = Task { [search] in
            do throws(BoardError) {
                for scheme in schemes ?? [] { _ = try registeredTransport(for: BoardAddress(scheme: scheme)) }
                let failures = try await Self.discover(search, through: transports, continuation)
                for failure in failures { unavailable(failure) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: RainKitError(error))
            }
        }
        continuation.onTermination = { _ in looking.cancel() }
        return stream
    }

    /// Returns why some of the transports could not search.
    private static func discover(
        _ search: BoardSearch, through transports: [any BoardTransport],
        _ found: AsyncThrowingStream<FoundBoard, any Error>.Continuation
    ) async throws(BoardError) -> [BoardError] {
        let results = await withTaskGroup(of: (index: Int, count: Int, failure: BoardError?).self) { group in
            for (index, transport) in transports.enumerated() {
                group.addTask {
                    let counter = FoundCounter()
                    do throws(BoardError) {
                        try await transport.discover(search) { board in
                            await counter.add()
                            if case .terminated = found.yield(board) { return false }
                            // A search by name ends once the board is found.
                            return search.name == nil
                        }
                        return (index, await counter.count, nil)
                    } catch {
                        return (index, await counter.count, error)
                    }
                }
            }
            var results: [(index: Int, count: Int, failure: BoardError?)] = []
            for await result in group {
                results.append(result)
                // The other searches are not needed any more.
                if search.name != nil, result.count > 0 { group.cancelAll() }
            }
            // They end in any order; the errors are sorted so that the same one is reported each time.
            return results.sorted { $0.index < $1.index }
        }
        if search.name != nil, !Task.isCancelled, results.contains(where: { $0.count > 0 }) { return [] }
        // A machine without Wi-Fi searches over other transports. That is an error only if Wi-Fi alone was requested.
        let failures = results.compactMap(\.failure).filter { transports.count == 1 || !$0.isForWantOfWiFi }
        // A transport that found boards before it failed has not finished its search.
        let someFound = results.contains { $0.failure == nil && $0.count > 0 }
        if let failure = failures.first, !someFound || failure.code == .cancelled { throw failure }
        return failures
    }

    /// Opens the board at an address. Without a location it opens the only board in reach.
    ///
    /// On a serial port it also finds out which protocol the board has. Over other transports the board connects with its first request.
    ///
    /// - Parameters:
    ///   - limit: the time in which the board must be found.
    ///   - waitsForBoard: whether to wait that long for a board that is not plugged in yet.
    /// - Throws: the errors of ``BoardTransport/board(at:_:)``.
    public func open(
        _ address: BoardAddress, with credentials: BoardCredentials, within limit: Duration = .seconds(60),
        waitsForBoard: Bool = false, followsLog: Bool = true
    ) async throws -> any Board {
        try await RainKitError.rethrowing { () async throws(BoardError) in
            try await locateBoard(
                address, with: credentials, within: limit, waitsForBoard: waitsForBoard, followsLog: followsLog
            ).open()
        }
    }

    /// Finds the board at an address as ``open(_:with:within:waitsForBoard:followsLog:)`` does, and leaves opening it to the caller or to a
    /// run (``provision(_:_:account:report:)``). Nothing is sent to the board.
    ///
    /// - Parameter waitsForPerson: whether a person can join the board's network by hand, or restart the board (see
    ///   ``RainKitConfiguration/networkChange`` and ``RainKitConfiguration/portChange``), so that this is waited for.
    public func locate(
        _ address: BoardAddress, with credentials: BoardCredentials, within limit: Duration = .seconds(60),
        waitsForBoard: Bool = false, waitsForPerson: Bool = false, followsLog: Bool = true
    ) async throws -> UnopenedBoard {
        try await RainKitError.rethrowing { () async throws(BoardError) in
            try await locateBoard(
                address, with: credentials, within: limit, waitsForBoard: waitsForBoard,
                waitsForPerson: waitsForPerson, followsLog: followsLog)
        }
    }

    func locateBoard(
        _ address: BoardAddress, with credentials: BoardCredentials, within limit: Duration,
        waitsForBoard: Bool = false, waitsForPerson: Bool = false, followsLog: Bool = true
    ) async throws(BoardError) -> UnopenedBoard {
        let end = ContinuousClock.now + limit
        let foundBy = end - (limit - Self.timeToSearch(within: limit))
        let transport = try registeredTransport(for: address)
        var opening = BoardOpening(
            credentials: credentials, tools: configuration.tools, foundBy: foundBy, logger: configuration.logger)
        opening.deviceLog = configuration.deviceLog
        opening.waitsForBoard = waitsForBoard
        opening.waitsForPerson = waitsForPerson
        opening.followsLog = followsLog
        opening.networkChange = configuration.networkChange
        opening.portChange = configuration.portChange
        opening.state = configuration.keepsFiles ? configuration.state : nil
        opening.other = { [self] (address, credentials) async throws(BoardError) -> any Board in
            try await locateBoard(
                address, with: credentials, within: max(.zero, end - ContinuousClock.now),
                waitsForPerson: waitsForPerson
            ).open()
        }
        let others = configuration.transports.filter { $0.findsNewBoards && $0.scheme != address.scheme }
        let finder = BoardFinder(transports: others, logger: configuration.logger, timer: configuration.tools.timer)
        opening.nearbySchemes = others.map(\.scheme)
        opening.nearby = { time, found, unavailable in
            _ = try? await finder.look(
                for: time, endsWithFirst: false, isNew: found, unavailable: { scheme, _ in unavailable(scheme) })
        }
        let (ready, timer) = (opening, configuration.tools.timer)
        // A transport of the program's own may exceed the limit.
        let opened = await withDeadline(limit, sleep: { try await timer.sleep(for: $0) }) {
            () async throws(BoardError) in
            try await transport.locate(address, ready)
        }
        if let opened { return try opened.get() }
        throw BoardError(
            .unavailable, message: "No board was found at \(address) in time.", reason: "not_found",
            remedies: [.moreTime])
    }
}

extension RainKitClient {
    /// Returns a monitor for the output of the board at a serial port. Without a path it uses the only port that looks like a board's.
    /// Nothing is opened yet.
    ///
    /// Throws `invalidArgument` if no serial ports are registered, or if several ports match; `unavailable` if there is no port.
    ///
    /// - Parameters:
    ///   - waitsForBoard: whether to wait for a port that is absent, and for one that disappears.
    ///   - limit: how long to wait for a board's port if no path is given.
    public func monitor(
        _ path: String? = nil, waitsForBoard: Bool = false, within limit: Duration = .seconds(86_400)
    ) async throws -> BoardMonitor {
        let (ports, tools) = (try serialPorts(), configuration.tools)
        return try await RainKitError.rethrowing { () async throws(BoardError) in
            try await ports.monitor(path, waitsForBoard: waitsForBoard, within: limit, tools: tools)
        }
    }

    /// Returns the path of the only serial port that may have a board, for other programs that open it.
    /// - Throws: `unavailable` (`no_port`) or `invalidArgument` (`several_ports`).
    public func onlySerialPort() async throws -> String {
        let (ports, tools) = (try serialPorts(), configuration.tools)
        return try await RainKitError.rethrowing { () async throws(BoardError) in
            try await ports.onlyPort(tools: tools)
        }
    }

    private func serialPorts() throws -> SerialBoards {
        if let ports = configuration.transports.lazy.compactMap({ $0 as? SerialBoards }).first { return ports }
        throw RainKitError(
            BoardError(
                .invalidArgument, message: "This client has no serial transport: add SerialBoards to its transports."))
    }
}

private actor FoundCounter {
    private(set) var count = 0
    func add() { count += 1 }
}

extension RainKitClient {
    /// How long to look for a board without a name or address, unless the caller waits for it.
    package static let searchTime = Duration.seconds(20)

    /// Returns how long to search if the caller has this much time. The search ends half a second earlier, or after three quarters of a
    /// time under two seconds: "not found" with its remedies is more useful than "late".
    package static func timeToSearch(within limit: Duration) -> Duration {
        limit - min(.milliseconds(500), limit / 4)
    }

    /// How long to look for other boards once the first has been found.
    static let timeForOthers = Duration.milliseconds(1500)

    /// Finds the board to use if the caller names none: the only board on a cable, else the only board found over any transport.
    ///
    /// Whoever plugs in a cable means that board, so with a single board on a cable nothing else is searched. Otherwise all transports are
    /// searched at once. Once a board is found, others get a moment to be found as well.
    ///
    /// - Parameters:
    ///   - limit: the time limit. Unless `waits` is set, no more than 20 s of it are used.
    ///   - waits: whether to wait for a board until the time is over.
    ///   - found: called for each board as it is found, if there is not just one on a cable.
    ///   - unavailable: called with the scheme of a transport that cannot search, as soon as that is known.
    ///   - choose: called to choose from several boards; returns nil for none of them. Without it several boards are an error.
    /// - Throws: `unavailable` (`not_found`) with the error of each transport, `invalidArgument` (`several_boards`, `several_ports`),
    ///   `cancelled`.
    public func findBoard(
        within limit: Duration = .seconds(20), waits: Bool = false,
        found: @escaping @Sendable (FoundBoard) -> Void = { _ in },
        unavailable: @escaping @Sendable (String, BoardError) -> Void = { _, _ in },
        choose: (@Sendable ([FoundBoard]) async -> FoundBoard?)? = nil
    ) async throws -> BoardAddress {
        try await RainKitError.rethrowing { () async throws(BoardError) in
            try await onlyBoard(within: limit, waits: waits, found: found, unavailable: unavailable, choose: choose)
        }
    }

    private func onlyBoard(
        within limit: Duration, waits: Bool, found: @escaping @Sendable (FoundBoard) -> Void,
        unavailable: @escaping @Sendable (String, BoardError) -> Void,
        choose: (@Sendable ([FoundBoard]) async -> FoundBoard?)?
    ) async throws(BoardError) -> BoardAddress {
        let transports = configuration.transports.filter(\.findsNewBoards)
        let finder = BoardFinder(
            transports: transports, logger: configuration.logger, timer: configuration.tools.timer)
        let atHand = try await boardsAtHand()
        if atHand.count == 1 { return atHand[0].address }

        var result = BoardFinder.Result(boards: atHand)
        if atHand.isEmpty {
            let time = waits ? limit : min(limit, Self.searchTime)
            result = try await finder.look(for: time, endsWithFirst: true, isNew: found, unavailable: unavailable)
            guard !result.boards.isEmpty else { throw notFound(result, hasWaited: waits) }
            // A cable that is plugged in meanwhile counts as one that was there before.
            let plugged = try await boardsAtHand()
            if plugged.count == 1 { return plugged[0].address }
        }
        for board in atHand { found(board) }
        let seen = result.boards
        let others = try await finder.look(for: Self.timeForOthers, endsWithFirst: false) { board in
            if !seen.contains(where: { $0.address == board.address }) { found(board) }
        }
        let boards = seen + others.boards.filter { board in !seen.contains { $0.address == board.address } }
        if boards.count == 1 { return boards[0].address }
        guard let choose else { throw several(boards) }
        guard let chosen = await choose(boards) else {
            throw BoardError(.cancelled, message: "Cancelled: no board was chosen.")
        }
        return chosen.address
    }

    /// The boards on cables now.
    private func boardsAtHand() async throws(BoardError) -> [FoundBoard] {
        let cabled = configuration.transports.filter { $0.findsNewBoards && $0.hasBoardAtHand }
        guard !cabled.isEmpty else { return [] }
        let finder = BoardFinder(transports: cabled, logger: configuration.logger, timer: configuration.tools.timer)
        return try await finder.look(for: .milliseconds(500), endsWithFirst: false, isNew: { _ in }).boards
    }

    private func notFound(_ result: BoardFinder.Result, hasWaited: Bool) -> BoardError {
        var told: Set<String> = []
        // If two transports fail for one reason, such as an absent bus, it is reported once.
        let obstacles = result.failures.filter { told.insert($0.error.message).inserted }.map { failure in
            let way = failure.scheme.wayToBoard
            return " \(way.prefix(1).uppercased())\(way.dropFirst()): \(failure.error.message)"
        }.joined()
        let ways = result.failures.map { $0.scheme == "softap" ? "over Wi-Fi" : $0.scheme.wayToBoard }
        let cable = ways.contains("on a cable") ? "" : ": no board is plugged in with a cable that carries data"
        let rest =
            ways.isEmpty
            ? "no board nearby is in provisioning mode." : "the search \(ways.joined(separator: " and ")) failed."
        return BoardError(
            .unavailable, message: "No board was found\(cable), and \(rest)\(obstacles)",
            reason: "not_found", remedies: [hasWaited ? .moreTime : .waiting])
    }

    private func several(_ boards: [FoundBoard]) -> BoardError {
        let ports = boards.filter { $0.address.scheme == "serial" }.compactMap(\.address.location)
        let names = boards.filter { $0.address.scheme != "serial" }.map { $0.name ?? $0.address.location ?? "?" }
        var remedies: [Remedy] = []
        if !ports.isEmpty { remedies.append(.port(ports)) }
        if !names.isEmpty { remedies.append(.boardName(names.sorted())) }
        return BoardError(
            .invalidArgument, message: "Several boards were found.",
            reason: names.isEmpty ? "several_ports" : "several_boards", remedies: remedies)
    }
}

extension String {
    /// How boards of a transport's scheme are reached, for messages.
    package var wayToBoard: String {
        switch self {
        case "serial": "on a cable"
        case "ble": "over Bluetooth"
        case "softap": "as a Wi-Fi network"
        default: "over \(self)"
        }
    }
}
