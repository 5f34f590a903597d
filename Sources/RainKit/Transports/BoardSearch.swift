// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainIO

/// The boards to search for, and the time for it.
public struct BoardSearch: Sendable {
    /// The time for the search.
    public var time: Duration
    /// The board with this name or address; the search ends with it.
    public var name: String?
    /// Boards whose name begins with this, instead of `PROV_`.
    public var prefix: String?
    /// Only boards that advertise one of these services, as UUIDs.
    public var services: Set<String>
    /// The address's parameters, such as `adapter`.
    public var parameters: [String: String]
    /// The logger of the search; the client's logger if nil.
    public var logger: Logger?
    /// Whether a transport that can list its boards at once continues for the whole time, for boards that appear later.
    public var watches = false

    public init(
        for time: Duration = .seconds(10), name: String? = nil, prefix: String? = nil, services: Set<String> = [],
        parameters: [String: String] = [:], logger: Logger? = nil
    ) {
        self.time = time
        self.name = name
        self.prefix = prefix
        self.services = services
        self.parameters = parameters
        self.logger = logger
    }
}

/// A board in range.
public struct FoundBoard: Sendable, Hashable {
    /// The board's address, for ``RainKitClient``.
    public var address: BoardAddress
    /// The board's name, if it was received.
    public var name: String?
    /// Other facts that help people to recognise it, such as the name of a cable's adapter.
    public var detail: String?
    /// The signal strength in dBm.
    public var signal: Int?
    /// The services that it advertises, as lower-case UUIDs; nil if the transport has no services.
    public var services: [String]?
    /// Whether a program on this machine is already connected to it; nil if the transport cannot find out.
    public var isConnected: Bool?
    /// The board's id in the cloud, if it announces one.
    public var nodeID: String?

    public init(
        _ address: BoardAddress, name: String? = nil, signal: Int? = nil, services: [String]? = nil,
        isConnected: Bool? = nil, nodeID: String? = nil
    ) {
        self.nodeID = nodeID
        self.address = address
        self.name = name
        self.signal = signal
        self.services = services
        self.isConnected = isConnected
    }
}

/// Searches for boards over all transports at once.
struct BoardFinder: Sendable {
    /// The boards that were found, and the transports that could not search, by their scheme.
    struct Result: Sendable {
        var boards: [FoundBoard] = []
        /// In the order of the transports.
        var failures: [(scheme: String, error: BoardError)] = []
    }

    let transports: [any BoardTransport]
    let logger: Logger
    let timer: any Clock<Duration>

    /// - Parameters:
    ///   - time: how long to search.
    ///   - endsWithFirst: whether the first board ends the search.
    ///   - isNew: called with each board once.
    ///   - unavailable: called at once with a transport that cannot search, by its scheme.
    func look(
        for time: Duration, endsWithFirst: Bool, isNew: @escaping @Sendable (FoundBoard) -> Void,
        unavailable: @escaping @Sendable (String, BoardError) -> Void = { _, _ in }
    ) async throws(BoardError) -> Result {
        var search = BoardSearch(for: time, logger: logger)
        search.watches = endsWithFirst
        let ready = search
        let sightings = FoundBoards()
        let timer = timer
        // A program's own transport may not keep the time limit.
        let failures = await withDeadline(time + .seconds(2), sleep: { try await timer.sleep(for: $0) }) {
            () async throws(Never) -> [(scheme: String, error: BoardError)] in
            await withTaskGroup(of: (index: Int, error: BoardError)?.self) { group in
                for (index, transport) in transports.enumerated() {
                    group.addTask {
                        do throws(BoardError) {
                            try await transport.discover(ready) { board in
                                // Another program's connection is not disturbed.
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
                var failures: [(index: Int, error: BoardError)] = []
                for await failure in group {
                    if let failure { failures.append(failure) }
                    if endsWithFirst, await !sightings.boards.isEmpty { group.cancelAll() }
                }
                // They fail in any order; the sorted result is always the same.
                return failures.sorted { $0.index < $1.index }.map { (transports[$0.index].scheme, $0.error) }
            }
        }
        if Task.isCancelled { throw BoardError(.cancelled, message: "The search was cancelled.") }
        guard case .success(let failures)? = failures else { return Result(boards: await sightings.boards) }
        return Result(boards: await sightings.boards, failures: failures)
    }
}

/// The boards that were found so far, in order.
private actor FoundBoards {
    private(set) var boards: [FoundBoard] = []

    /// Returns whether the board was new.
    func add(_ board: FoundBoard) -> Bool {
        if let index = boards.firstIndex(where: { $0.address == board.address }) {
            boards[index] = board
            return false
        }
        boards.append(board)
        return true
    }
}
