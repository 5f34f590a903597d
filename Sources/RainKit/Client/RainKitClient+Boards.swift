// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainCore
import RainIO

extension RainKitClient {
    /// The transport that an address names. Throws `invalidArgument` where none of that scheme is registered.
    public func transport(for address: BoardAddress) throws(ProvisioningError) -> any BoardTransport {
        if let found = configuration.transports.first(where: { $0.scheme == address.scheme }) { return found }
        let known = configuration.transports.map(\.scheme).joined(separator: ", ")
        throw ProvisioningError(
            .invalidArgument, message: "There is no transport \"\(address.scheme)\" here; there are \(known).")
    }

    /// Boards that wait to be provisioned, from all transports at once, each as soon as it is found and once.
    ///
    /// The stream ends when the search's time is over, and stops looking when its loop is left. It throws `ProvisioningError`
    /// where no transport could look to the end; one that cannot while others find something is told of by `unavailable`. It throws
    /// `invalidArgument` for a scheme that is not registered.
    ///
    /// - Parameters:
    ///   - schemes: the transports to look through; all that can find boards which wait for a network if nil.
    public func boards(
        _ search: BoardSearch = BoardSearch(), over schemes: Set<String>? = nil,
        unavailable: @escaping @Sendable (ProvisioningError) -> Void = { _ in }
    ) -> AsyncThrowingStream<FoundBoard, any Error> {
        let transports = configuration.transports.filter { transport in
            // Those that have their network already wait for nothing: they are looked for where they are asked for.
            transport.canDiscover && (schemes?.contains(transport.scheme) ?? !transport.isForConnectedBoards)
        }
        var search = search
        search.logger = search.logger ?? configuration.logger
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: FoundBoard.self)
        // Ended by the stream: when its last listener is gone, the search is cancelled.
        let looking = Task { [search] in
            do throws(ProvisioningError) {
                for scheme in schemes ?? [] { _ = try transport(for: BoardAddress(scheme: scheme)) }
                let failures = try await Self.discover(search, through: transports, continuation)
                for failure in failures { unavailable(failure) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in looking.cancel() }
        return stream
    }

    /// What kept some of the transports from looking.
    private static func discover(
        _ search: BoardSearch, through transports: [any BoardTransport],
        _ found: AsyncThrowingStream<FoundBoard, any Error>.Continuation
    ) async throws(ProvisioningError) -> [ProvisioningError] {
        let results = await withTaskGroup(of: (index: Int, count: Int, failure: ProvisioningError?).self) { group in
            for (index, transport) in transports.enumerated() {
                group.addTask {
                    let counter = FoundCounter()
                    do throws(ProvisioningError) {
                        try await transport.discover(search) { board in
                            await counter.add()
                            if case .terminated = found.yield(board) { return false }
                            // A search by name ends with the board.
                            return search.name == nil
                        }
                        return (index, await counter.count, nil)
                    } catch {
                        return (index, await counter.count, error)
                    }
                }
            }
            var results: [(index: Int, count: Int, failure: ProvisioningError?)] = []
            for await result in group {
                results.append(result)
                // Nobody needs the others any longer.
                if search.name != nil, result.count > 0 { group.cancelAll() }
            }
            // They end in any order, and what is told is to be the same each time.
            return results.sorted { $0.index < $1.index }
        }
        if search.name != nil, !Task.isCancelled, results.contains(where: { $0.count > 0 }) { return [] }
        // A machine without Wi-Fi looks elsewhere, and nothing is wrong with that unless Wi-Fi was asked for.
        let failures = results.compactMap(\.failure).filter { transports.count == 1 || !$0.isForWantOfWiFi }
        // A transport that found boards before it failed has not looked to the end.
        let someFound = results.contains { $0.failure == nil && $0.count > 0 }
        if let failure = failures.first, !someFound || failure.code == .cancelled { throw failure }
        return failures
    }

    /// Opens the board at an address, of which nothing is asked yet; without a location the only one in reach.
    ///
    /// - Parameters:
    ///   - limit: the time in which it must be found.
    ///   - waitsForBoard: whether one that is not plugged in yet is waited for so long.
    /// - Throws: what ``BoardTransport/board(at:_:)`` throws.
    public func open(
        _ address: BoardAddress, with credentials: BoardCredentials, within limit: Duration = .seconds(60),
        waitsForBoard: Bool = false, followsLog: Bool = true
    ) async throws(ProvisioningError) -> any Board {
        // "Not found" and what to try says more than "late": there is a moment left to say it.
        let foundBy = ContinuousClock.now + limit - min(.seconds(2), limit / 4)
        let transport = try transport(for: address)
        var opening = BoardOpening(
            credentials: credentials, tools: configuration.tools, foundBy: foundBy, logger: configuration.logger)
        opening.deviceLog = configuration.deviceLog
        opening.waitsForBoard = waitsForBoard
        opening.followsLog = followsLog
        opening.networkChange = configuration.networkChange
        opening.state = configuration.keepsFiles ? configuration.state : nil
        opening.other = { [self] (address, credentials) async throws(ProvisioningError) -> any Board in
            try await open(address, with: credentials, within: limit)
        }
        let (ready, timer) = (opening, configuration.tools.timer)
        // A transport of the program's own may not keep to the time.
        let opened = await withDeadline(limit, sleep: { try await timer.sleep(for: $0) }) {
            () async throws(ProvisioningError) in
            try await transport.board(at: address, ready)
        }
        if let opened { return try opened.get() }
        throw ProvisioningError(
            .unavailable, message: "No board was found at \(address) in time.", reason: "not_found",
            remedies: [.moreTime])
    }
}

extension RainKitClient {
    /// For what the board at a serial port prints; without a path at the only port that looks like a board's. Nothing is opened yet.
    ///
    /// Throws `invalidArgument` where no serial ports are registered, or several could be meant; `unavailable` where there is none.
    ///
    /// - Parameters:
    ///   - waitsForBoard: whether a port that is not there is waited for, and one that goes away.
    ///   - limit: how long a board's port is waited for where no path is given.
    public func monitor(
        _ path: String? = nil, waitsForBoard: Bool = false, within limit: Duration = .seconds(86_400)
    ) async throws(ProvisioningError) -> BoardMonitor {
        let ports = configuration.transports.lazy.compactMap { $0 as? SerialBoards }.first
        guard let ports else {
            throw ProvisioningError(.invalidArgument, message: "There are no serial ports among the transports here.")
        }
        return try await ports.monitor(path, waitsForBoard: waitsForBoard, within: limit, tools: configuration.tools)
    }

    /// The path of the one serial port that may have a board, for other programs that open it.
    /// - Throws: `unavailable` (`no_port`) or `invalidArgument` (`several_ports`).
    public func onlySerialPort() async throws(ProvisioningError) -> String {
        let ports = configuration.transports.lazy.compactMap { $0 as? SerialBoards }.first
        guard let ports else {
            throw ProvisioningError(.invalidArgument, message: "There are no serial ports among the transports here.")
        }
        return try await ports.onlyPort(tools: configuration.tools)
    }
}

private actor FoundCounter {
    private(set) var count = 0
    func add() { count += 1 }
}

extension RainKitClient {
    /// How long a board is looked for that nobody named, unless it is waited for.
    static let searchTime = Duration.seconds(20)
    /// How long others are listened for once the first has been found.
    static let timeForOthers = Duration.milliseconds(1500)

    /// The board that is meant where nobody has named one: the only one on a cable; else the only one that is found in any way.
    ///
    /// A cable is plugged in by a person who means that board, so nothing else is looked for beside a single one. Otherwise all ways are
    /// looked through at once, and once a board is found, others get a moment to be found as well.
    ///
    /// - Parameters:
    ///   - limit: the time for it, of which no more than 20 s is used unless it waits.
    ///   - waits: whether a board is waited for until the time is over.
    ///   - found: is handed each board as it is found, where more than one cable is looked at.
    ///   - unavailable: is told, as soon as it is known, of a transport that cannot look, by its scheme.
    ///   - choose: asks which of several is meant; nil for none of them. Without it several are an error.
    /// - Throws: `unavailable` (`not_found`) with what each way said, `invalidArgument` (`several_boards`, `several_ports`), `cancelled`.
    public func findBoard(
        within limit: Duration = .seconds(20), waits: Bool = false,
        found: @escaping @Sendable (FoundBoard) -> Void = { _ in },
        unavailable: @escaping @Sendable (String, ProvisioningError) -> Void = { _, _ in },
        choose: (@Sendable ([FoundBoard]) async -> FoundBoard?)? = nil
    ) async throws(ProvisioningError) -> BoardAddress {
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
            throw ProvisioningError(.cancelled, message: "No board was chosen.")
        }
        return chosen.address
    }

    /// What is on cables now.
    private func boardsAtHand() async throws(ProvisioningError) -> [FoundBoard] {
        let cabled = configuration.transports.filter { $0.findsNewBoards && $0.hasBoardAtHand }
        guard !cabled.isEmpty else { return [] }
        let finder = BoardFinder(transports: cabled, logger: configuration.logger, timer: configuration.tools.timer)
        return try await finder.look(for: .milliseconds(500), endsWithFirst: false, isNew: { _ in }).boards
    }

    private func notFound(_ result: BoardFinder.Result, hasWaited: Bool) -> ProvisioningError {
        var told: Set<String> = []
        // Two ways that fail for one reason, such as a bus that is not there, are told of once.
        let obstacles = result.failures.filter { told.insert($0.error.message).inserted }.map { failure in
            let way = failure.scheme.wayToBoard
            return " \(way.prefix(1).uppercased())\(way.dropFirst()): \(failure.error.message)"
        }.joined()
        return ProvisioningError(
            .unavailable,
            message:
                "No board was found: plug one in, or check that it is powered, near, and in provisioning mode.\(obstacles)",
            reason: "not_found", remedies: [hasWaited ? .moreTime : .waiting])
    }

    private func several(_ boards: [FoundBoard]) -> ProvisioningError {
        let ports = boards.filter { $0.address.scheme == "serial" }.compactMap(\.address.location)
        let names = boards.filter { $0.address.scheme != "serial" }.map { $0.name ?? $0.address.location ?? "?" }
        var remedies: [Remedy] = []
        if !ports.isEmpty { remedies.append(.port(ports)) }
        if !names.isEmpty { remedies.append(.boardName(names.sorted())) }
        return ProvisioningError(
            .invalidArgument, message: "Several boards could be meant.",
            reason: names.isEmpty ? "several_ports" : "several_boards", remedies: remedies)
    }
}

extension String {
    /// How boards of a transport's scheme are reached, in words.
    package var wayToBoard: String {
        switch self {
        case "serial": "on a cable"
        case "ble": "over Bluetooth"
        case "softap": "as a Wi-Fi network"
        default: "over \(self)"
        }
    }
}
