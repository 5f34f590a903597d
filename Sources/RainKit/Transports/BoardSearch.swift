// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainIO

/// Which boards to look for, and for how long.
public struct BoardSearch: Sendable {
    /// The time for looking.
    public var time: Duration
    /// The one board of that name, or address; the search ends with it.
    public var name: String?
    /// Boards whose name begins so, in the place of `PROV_`.
    public var prefix: String?
    /// Boards that advertise one of these services alone, as UUIDs.
    public var services: Set<String>
    /// The address's parameters, such as `adapter`.
    public var parameters: [String: String]
    /// Hears of the search; the client's logger if nil.
    public var logger: Logger?
    /// Whether a transport that can list its boards at once goes on for the whole time, for those that come meanwhile.
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

/// A board in reach.
public struct FoundBoard: Sendable, Hashable {
    /// Where it is: what ``RainKitClient`` provisions.
    public var address: BoardAddress
    /// What it calls itself, where that was heard.
    public var name: String?
    /// What else tells people which it is, such as the name of a cable's adapter.
    public var detail: String?
    /// The strength of its signal in dBm.
    public var signal: Int?
    /// The services that it advertises, as lower-case UUIDs; nil where the transport knows of none.
    public var services: [String]?
    /// Whether some program on this machine is connected to it already; nil where the transport cannot tell.
    public var isConnected: Bool?
    /// Its id in the cloud, where it announces that.
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
