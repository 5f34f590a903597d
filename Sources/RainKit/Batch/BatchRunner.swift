// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainIO
import RainMaker
import Synchronization

/// One station's work on a batch: leases boards, runs as many as may run at once, and ends when no board is left or when it is stopped.
///
/// One task decides (``run(_:)``). Everything that happens reaches it as a ``Signal``.
struct BatchRunner: Sendable {
    private enum Signal: Sendable {
        case ended(LedgerBoard.ID, BatchEnding)
        /// Boards may be waiting in the ledger.
        case look
        /// Reported, which shows that this task still decides.
        case alive
        case stop
        case failed(RainKitError)
    }

    let client: RainKitClient
    let ledger: any Ledger
    let batch: Batch
    let options: BatchOptions
    let stop: BatchStop
    let report: @Sendable (BatchEvent) -> Void
    /// Returns the account that the boards get into; nil for the client's.
    var account: (@Sendable () async throws -> Onboarder.Cloud)?
    private let time: Timekeeper

    init(
        client: RainKitClient, ledger: any Ledger, batch: Batch, options: BatchOptions, stop: BatchStop,
        report: @escaping @Sendable (BatchEvent) -> Void
    ) {
        self.client = client
        self.ledger = ledger
        self.batch = batch
        self.options = options
        self.stop = stop
        self.report = report
        time = Timekeeper(client.configuration.tools.timer)
    }

    func run(_ entries: [BatchEntry]) async throws -> BatchCounts {
        let limit = DescriptorLimit.raise()
        var cloud: Onboarder.Cloud?
        if options.mapsToUser {
            if let account { cloud = try await account() } else { cloud = try await client.checkCanProvision() }
        }
        report(.counts(try await counts()))
        let session = try await RainKitError.rethrowing { () async throws(LedgerError) in
            try await ledger.openSession(options.station, for: options.lease)
        }
        let writer = LedgerWriter(ledger, time: time, patience: options.ledgerPatience) {
            report(.ledgerUnreachable($0))
        }
        let book = EntryBook(entries)
        let (signals, send) = AsyncStream.makeStream(of: Signal.self)
        let outage = cloud.map { cloud in
            CloudOutage(time: time, patience: options.cloudPatience, report: report, isOver: { send.yield(.look) }) {
                () async throws(AccountError) in _ = try await cloud.user()
            }
        }
        stop.whenSet { outage?.giveUp() }
        let boards = BatchBoards(
            client: client, cloud: cloud, ledger: ledger, writer: writer, options: options, stop: stop, time: time,
            stoppedTime: StoppedTime(time), outage: outage, groups: BatchGroups(client), records: try await records(),
            report: report)
        // A board of an account takes three descriptors: the board, the cloud, and a file or two for a moment.
        let atOnce = max(1, min(options.atOnce, (limit - 64) / 3))
        do {
            try await work(session, boards, book, BatchSchedule(atOnce: atOnce), signals, send)
        } catch {
            await close(session)
            throw error
        }
        await close(session)
        let counts = try await counts()
        report(.counts(counts))
        return counts
    }

    /// Opens the records of this machine; nil if the client has stores of its own, or keeps no files.
    private func records() async throws -> BatchRecords? {
        let configuration = client.configuration
        guard configuration.keepsFiles, configuration.pendingMappings == nil, configuration.claimedBoards == nil else {
            return nil
        }
        do throws(RecordStoreError) {
            return try await BatchRecords.open(path: "\(configuration.state)/batch-records.sqlite")
        } catch {
            throw RainKitError(error)
        }
    }

    private func counts() async throws -> BatchCounts {
        try await RainKitError.rethrowing { () async throws(LedgerError) in try await ledger.counts(of: batch.id) }
    }

    /// Ends the session, so that its boards are free at once. If that fails, they are free when the session runs out.
    private func close(_ session: LedgerSession.ID) async {
        let (ledger, logger) = (ledger, client.configuration.logger)
        // A cancelled run ends its session, too.
        await Task {
            do throws(LedgerError) {
                try await ledger.closeSession(session)
            } catch {
                logger.debug("the ledger's session could not be closed", metadata: ["cause": "\(error.message)"])
            }
        }.value
    }

    private func work(
        _ session: LedgerSession.ID, _ boards: BatchBoards, _ book: EntryBook, _ schedule: BatchSchedule,
        _ signals: AsyncStream<Signal>, _ send: AsyncStream<Signal>.Continuation
    ) async throws {
        stop.whenSet { send.yield(.stop) }
        send.yield(.look)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { await keepAlive(session) { send.yield(.alive) } }
            group.addTask { await boards.stoppedTime.watch() }
            group.addTask { await reportCounts { send.yield(.look) } }
            if let discovery = options.discovery, discovery.searches {
                group.addTask {
                    do {
                        try await discover(discovery, session) { send.yield(.look) }
                    } catch {
                        send.yield(.failed(RainKitError(wrapping: error)))
                    }
                }
            }
            var schedule = schedule
            var mayHaveMore = true
            for await signal in signals {
                switch signal {
                case .look: mayHaveMore = true
                case .alive: report(.alive)
                case .stop: break
                case .failed(let error): throw error
                case .ended(let id, let ending):
                    schedule.ended(id)
                    mayHaveMore = true
                    if case .broken(let error) = ending { throw error }
                }
                if stop.isSet {
                    for board in schedule.removeWaiting() { try await boards.release(board) }
                    if schedule.isIdle { return }
                    continue
                }
                if boards.outage?.isDown == true { continue }
                if mayHaveMore, schedule.room > 0 {
                    let wanted = schedule.room
                    let leased = try await lease(wanted, session)
                    mayHaveMore = leased.count == wanted
                    for board in leased {
                        schedule.add(board, place: book.entry(of: board.board, options)?.address.exclusivePlace)
                    }
                }
                while let board = schedule.next() {
                    let entry = book.entry(of: board.board, options)
                    group.addTask { send.yield(.ended(board.board.id, await boards.provision(board, entry))) }
                }
                if Task.isCancelled { throw RainKitError.cancelled }
                // Boards of other stations may still come back.
                if schedule.isIdle, !mayHaveMore, options.discovery?.searches != true, try await isDone() { return }
            }
            // The stream ends only if this task was cancelled.
            throw RainKitError.cancelled
        }
    }

    /// Leases boards. A ledger that is out of reach is tried again as long as one that cannot be written.
    private func lease(_ count: Int, _ session: LedgerSession.ID) async throws -> [LeasedBoard] {
        try await patiently { () async throws(LedgerError) in try await ledger.lease(count, of: batch.id, for: session)
        }
    }

    private func patiently<Answer: Sendable>(
        _ call: () async throws(LedgerError) -> Answer
    ) async throws -> Answer {
        let began = time.elapsed()
        var schedule = PollSchedule.unreachable
        while true {
            do throws(LedgerError) {
                return try await call()
            } catch {
                guard error.isTransient, time.elapsed() - began < options.ledgerPatience, !stop.isSet else {
                    throw RainKitError(error)
                }
                report(.ledgerUnreachable(error))
            }
            try await time.sleep(schedule.next())
        }
    }

    /// Renews the session three times in each of its lifetimes. A renewal that fails is followed by the next.
    private func keepAlive(_ session: LedgerSession.ID, _ alive: @Sendable () -> Void) async {
        while (try? await time.sleep(options.lease / 3)) != nil {
            alive()
            do throws(LedgerError) {
                try await ledger.renew(session, for: options.lease)
            } catch {
                client.configuration.logger.debug(
                    "the ledger's session was not renewed", metadata: ["cause": "\(error.message)"])
            }
        }
    }

    private func isDone() async throws -> Bool {
        let counts = try await patiently { () async throws(LedgerError) in try await ledger.counts(of: batch.id) }
        return counts.waiting + counts.running == 0
    }

    /// Reports once a second how far the batch is, with the work of all stations. Boards may be free then that were not before.
    private func reportCounts(_ look: @Sendable () -> Void) async {
        var last: BatchCounts?
        while (try? await time.sleep(.seconds(1))) != nil {
            guard let counts = try? await ledger.counts(of: batch.id) else { continue }
            if counts != last { report(.counts(counts)) }
            last = counts
            if counts.waiting + counts.abandoned > 0 || counts.running == 0 { look() }
        }
    }

    /// Adds each board that appears to the batch. Returns when it is cancelled, and throws if the ledger cannot be used any more.
    private func discover(
        _ discovery: BatchDiscovery, _ session: LedgerSession.ID,
        _ added: @escaping @Sendable () -> Void
    ) async throws {
        let transports = client.configuration.transports.filter { transport in
            transport.canDiscover
                && (discovery.transports?.contains(transport.scheme) ?? !transport.isForConnectedBoards)
        }
        for scheme in discovery.transports ?? [] { _ = try client.transport(for: BoardAddress(scheme: scheme)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for transport in transports {
                group.addTask {
                    try await search(transport) { found in
                        guard !stop.isSet, let entry = discovery.entry(found, 0) else { return }
                        let board = DiscoveredAddress(name: entry.board.name, address: entry.board.address)
                        let line = try await patiently { () async throws(LedgerError) in
                            try await ledger.add(board, to: batch.id, for: session)
                        }
                        if line != nil { added() }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Searches over one transport until it is cancelled. A transport that cannot search now is tried again, less and less often: its radio
    /// or its service may appear later. Each problem is reported once. Throws what `found` throws.
    private func search(
        _ transport: any BoardTransport, _ found: @escaping @Sendable (FoundBoard) async throws -> Void
    ) async throws {
        var search = BoardSearch(for: .seconds(86_400), logger: client.configuration.logger)
        search.watches = true
        let problem = Mutex<RainKitError?>(nil)
        var reported: String?
        var schedule = Self.searches
        while true {
            let began = time.elapsed()
            do throws(BoardError) {
                try await transport.discover(search) { board in
                    do {
                        try await found(board)
                        return true
                    } catch {
                        problem.withLock { $0 = RainKitError(wrapping: error) }
                        return false
                    }
                }
            } catch {
                if Task.isCancelled { return }
                // A search that has worked for a while has a new problem.
                if time.elapsed() - began > Self.workingSearch { (reported, schedule) = (nil, Self.searches) }
                if reported != error.message { report(.searchFailed(transport.scheme, RainKitError(error))) }
                reported = error.message
            }
            if let problem = problem.withLock({ $0 }) { throw problem }
            guard (try? await time.sleep(schedule.next())) != nil else { return }
        }
    }

    /// The pauses between attempts to search.
    private static var searches: PollSchedule {
        var schedule = PollSchedule(from: .seconds(1), to: .seconds(30))
        _ = schedule.next()
        return schedule
    }

    private static let workingSearch = Duration.seconds(10)
}

/// How a station's work on a board ended.
enum BatchEnding: Sendable {
    case done, failed, stopped, lost
    /// The ledger cannot be written any more, or the cloud does not answer for too long, so nothing else can be done.
    case broken(RainKitError)
}

/// The entries of a batch by line.
private struct EntryBook: Sendable {
    private let entries: [Int: BatchEntry]

    init(_ entries: [BatchEntry]) {
        self.entries = Dictionary(entries.map { ($0.line, $0) }) { first, _ in first }
    }

    /// Returns the entry of a board; nil if no file has it. The entry of a discovered board is made for each lease, because its code may have
    /// been scanned meanwhile.
    func entry(of board: LedgerBoard, _ options: BatchOptions) -> BatchEntry? {
        if let entry = entries[board.line] { return entry }
        guard let discovery = options.discovery, let address = try? BoardAddress(board.address) else { return nil }
        // A board without a name is recorded under its address, which is not the name on its label.
        let name = board.name == board.address ? nil : board.name
        return discovery.entry(FoundBoard(address, name: name), board.line)
    }
}
