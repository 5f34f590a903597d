// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

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
