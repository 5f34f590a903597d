// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainIO

/// Looks for boards in all ways at once.
struct BoardFinder: Sendable {
    /// What was found, and what kept a transport from looking, by its scheme.
    struct Result: Sendable {
        var boards: [FoundBoard] = []
        /// In the order of the transports.
        var failures: [(scheme: String, error: ProvisioningError)] = []
    }

    let transports: [any BoardTransport]
    let logger: Logger
    let timer: any Clock<Duration>

    /// - Parameters:
    ///   - time: how long.
    ///   - endsWithFirst: whether the first board that is found ends it.
    ///   - isNew: is handed each board once.
    ///   - unavailable: is told at once of a transport that cannot look, by its scheme.
    func look(
        for time: Duration, endsWithFirst: Bool, isNew: @escaping @Sendable (FoundBoard) -> Void,
        unavailable: @escaping @Sendable (String, ProvisioningError) -> Void = { _, _ in }
    ) async throws(ProvisioningError) -> Result {
        var search = BoardSearch(for: time, logger: logger)
        search.watches = endsWithFirst
        let ready = search
        let sightings = Sightings()
        let timer = timer
        // A transport of the program's own may not keep to the time.
        let failures = await withDeadline(time + .seconds(2), sleep: { try await timer.sleep(for: $0) }) {
            () async throws(Never) -> [(scheme: String, error: ProvisioningError)] in
            await withTaskGroup(of: (index: Int, error: ProvisioningError)?.self) { group in
                for (index, transport) in transports.enumerated() {
                    group.addTask {
                        do throws(ProvisioningError) {
                            try await transport.discover(ready) { board in
                                // Somebody else's work with it is not disturbed.
                                guard board.isConnected != true else { return true }
                                if await sightings.add(board) { isNew(board) }
                                return !endsWithFirst
                            }
                            return nil
                        } catch {
                            guard error.code != .cancelled else { return nil }
                            unavailable(transport.scheme, error)
                            return (index, error)
                        }
                    }
                }
                var failures: [(index: Int, error: ProvisioningError)] = []
                for await failure in group {
                    if let failure { failures.append(failure) }
                    if endsWithFirst, await !sightings.boards.isEmpty { group.cancelAll() }
                }
                // They fail in any order, and what is told is to be the same each time.
                return failures.sorted { $0.index < $1.index }.map { (transports[$0.index].scheme, $0.error) }
            }
        }
        if Task.isCancelled { throw ProvisioningError(.cancelled, message: "The search was cancelled.") }
        guard case .success(let failures)? = failures else { return Result(boards: await sightings.boards) }
        return Result(boards: await sightings.boards, failures: failures)
    }
}

/// What was found so far, in the order in which it came.
private actor Sightings {
    private(set) var boards: [FoundBoard] = []

    /// Whether it had not been found before.
    func add(_ board: FoundBoard) -> Bool {
        if let index = boards.firstIndex(where: { $0.address == board.address }) {
            boards[index] = board
            return false
        }
        boards.append(board)
        return true
    }
}
