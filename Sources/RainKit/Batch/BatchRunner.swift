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

    private var time: Timekeeper { Timekeeper(client.configuration.tools.timer) }

    func run(_ entries: [BatchEntry]) async throws -> BatchCounts {
        let limit = DescriptorLimit.raise()
        var cloud: Onboarder.Cloud?
        if options.mapsToUser { cloud = try await client.checkCanProvision() }
        report(.counts(try await counts()))
        let session = try await RainKitError.rethrowing { () async throws(LedgerError) in
            try await ledger.openSession(options.station, for: options.lease)
        }
        let writer = LedgerWriter(ledger, time: time, patience: options.ledgerPatience) {
            report(.ledgerUnreachable($0))
        }
        let book = EntryBook(entries)
        let boards = BatchBoards(
            client: client, cloud: cloud, ledger: ledger, writer: writer, options: options, stop: stop,
            groups: BatchGroups(client), records: try await records(), report: report)
        // A board of an account takes three descriptors: the board, the cloud, and a file or two for a moment.
        let atOnce = max(1, min(options.atOnce, (limit - 64) / 3))
        do {
            try await work(session, boards, book, BatchSchedule(atOnce: atOnce))
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
        _ session: LedgerSession.ID, _ boards: BatchBoards, _ book: EntryBook, _ schedule: BatchSchedule
    ) async throws {
        let (signals, send) = AsyncStream.makeStream(of: Signal.self)
        stop.whenSet { send.yield(.stop) }
        send.yield(.look)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { await keepAlive(session) { send.yield(.alive) } }
            group.addTask { await reportCounts { send.yield(.look) } }
            if let discovery = options.discovery {
                group.addTask { await discover(discovery, book) { send.yield(.look) } }
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
                if schedule.isIdle, !mayHaveMore, options.discovery == nil, try await isDone() { return }
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
        let time = time
        var schedule = PollSchedule.unreachable
        while true {
            do throws(LedgerError) {
                return try await call()
            } catch {
                guard error.isTransient, time.elapsed() < options.ledgerPatience, !stop.isSet else {
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

    /// Adds each board that appears to the batch.
    private func discover(_ discovery: BatchDiscovery, _ book: EntryBook, _ added: @Sendable () -> Void) async {
        var search = BoardSearch(for: .seconds(86_400))
        search.watches = true
        do {
            while !Task.isCancelled {
                for try await found in client.boards(search, over: discovery.transports) {
                    guard let entry = book.add(found, discovery.entry) else { continue }
                    try await patiently { () async throws(LedgerError) in
                        try await ledger.add([entry.board], to: batch.id)
                    }
                    added()
                }
            }
        } catch {
            guard !Task.isCancelled else { return }
            report(.discoveryEnded(RainKitError(wrapping: error)))
        }
    }
}

/// How a station's work on a board ended.
enum BatchEnding: Sendable {
    case done, failed, stopped, lost
    /// The ledger cannot be written any more, so nothing else can be done.
    case broken(RainKitError)
}

/// The entries of a batch by line, with those of boards that were discovered.
private final class EntryBook: Sendable {
    private struct State {
        var entries: [Int: BatchEntry]
        var known: Set<BoardAddress>
        var last: Int
    }

    private let state: Mutex<State>

    init(_ entries: [BatchEntry]) {
        state = Mutex(
            State(
                entries: Dictionary(entries.map { ($0.line, $0) }) { first, _ in first },
                known: Set(entries.map(\.address)), last: entries.map(\.line).max() ?? 0))
    }

    /// Returns the entry of a board; nil if no file has it. A board that an earlier run discovered gets the entry of the discovery.
    func entry(of board: LedgerBoard, _ options: BatchOptions) -> BatchEntry? {
        if let entry = state.withLock({ $0.entries[board.line] }) { return entry }
        guard let discovery = options.discovery, let address = try? BoardAddress(board.address) else { return nil }
        return discovery.entry(FoundBoard(address, name: board.name), board.line)
    }

    /// Makes the entry of a board that was found; nil if it is known already, or is to be left alone.
    func add(_ found: FoundBoard, _ entry: (FoundBoard, Int) -> BatchEntry?) -> BatchEntry? {
        state.withLock { state in
            guard !state.known.contains(found.address), let entry = entry(found, state.last + 1) else { return nil }
            state.known.insert(found.address)
            state.last += 1
            state.entries[entry.line] = entry
            return entry
        }
    }
}
