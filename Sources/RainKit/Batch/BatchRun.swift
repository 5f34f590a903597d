// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainAccount
import RainCore
import RainIO
import RainMaker
import Synchronization

/// How a station works on a batch.
public struct BatchOptions: Sendable {
    /// How many boards are provisioned at the same time. The number of descriptors that the process may open limits it, too.
    public var atOnce = 50
    /// The time limit for each attempt at a board.
    public var deadline = Duration.seconds(120)
    /// How often a board is tried if a fault may go away by itself.
    public var tries = 3
    /// The station's name in the ledger.
    public var station = hostNameOfMachine()
    /// Whether boards are put into the account.
    public var mapsToUser = true
    /// How long the station's boards stay its own after it was last heard of.
    public var lease = Duration.seconds(30)
    /// How long a ledger that is out of reach is tried again before the batch ends.
    public var ledgerPatience = Duration.seconds(120)
    /// How long a cloud that is out of reach is asked again before the batch ends. Boards wait meanwhile, and none begins.
    public var cloudPatience = Duration.seconds(3600)
    /// Which boards to provision besides those of the batch: all that this search finds until the run is stopped.
    public var discovery: BatchDiscovery?

    public init() {}
}

/// Boards that are provisioned as they appear.
public struct BatchDiscovery: Sendable {
    /// Whether to search. Otherwise the run ends with the boards that earlier runs have discovered.
    public var searches = true
    /// Where to look, such as `["ble"]`; all transports if nil.
    public var transports: Set<String>?
    /// Makes the entry of a board that was found. Returns nil for a board that is to be left alone.
    ///
    /// It is called when the board is found, with the line 0, and again when the station begins with the board. Then the found board has the
    /// name that the ledger has, or no name if that is the board's address.
    public var entry: @Sendable (FoundBoard, _ line: Int) -> BatchEntry?

    public init(
        transports: Set<String>? = nil, entry: @escaping @Sendable (FoundBoard, _ line: Int) -> BatchEntry?
    ) {
        self.transports = transports
        self.entry = entry
    }
}

/// What happens while a station works on a batch.
public enum BatchEvent: Sendable {
    /// The station begins with a board, or tries it again.
    case began(LedgerBoard)
    /// An event of a board that is being provisioned.
    case step(LedgerBoard, OnboardingEvent)
    /// An attempt has failed with a fault that may go away, so the board is tried again.
    case again(LedgerBoard, RainKitError)
    /// The board is provisioned.
    case done(LedgerBoard, OnboardedNode)
    /// The board is given up.
    case failed(LedgerBoard, RainKitError)
    /// The station stopped before the board was done. The next run continues with it.
    case stopped(LedgerBoard)
    /// Another station has taken the board over, because this one was not heard of for too long.
    case lost(LedgerBoard)
    /// The station still works: three times in each ``BatchOptions/lease``, whatever else happens. For a watchdog.
    case alive
    /// How many boards are in which state: at the beginning, and after each board.
    case counts(BatchCounts)
    /// The ledger is out of reach for the moment, so the boards wait.
    case ledgerUnreachable(LedgerError)
    /// The cloud is out of reach for the moment: no board begins, and the boards that need it wait.
    case cloudUnreachable(RainKitError)
    /// The cloud can be reached again.
    case cloudAnswers
    /// The transport of this scheme cannot search for boards now. It is tried again, and each problem is reported once.
    case searchFailed(String, RainKitError)
}

extension RainKitClient {
    /// Adds a batch to a ledger: all boards of a file, for the signed-in user.
    ///
    /// - Parameters:
    ///   - file: nil for a batch of boards that are discovered.
    ///   - path: the absolute path of the file; empty for standard input.
    ///   - again: whether a batch of the same file that is not finished is left as it is, and another begins.
    /// - Throws: `RainKitError`: `not_signed_in`; `unfinished_batch` unless `again` is set; the ledger's errors.
    public func createBatch(
        _ file: BatchFile?, path: String, in ledger: any Ledger, again: Bool = false,
        options: BatchOptions = BatchOptions()
    ) async throws -> Batch {
        let (deployment, user) = try await owner(options)
        if let file, !again { try await check(file, deployment, user, in: ledger) }
        let batch = NewBatch(
            file: path, sha256: file?.sha256 ?? "", deployment: deployment, user: user,
            created: configuration.tools.clock.now, boards: file?.entries.map(\.board) ?? [])
        return try await RainKitError.rethrowing { () async throws(LedgerError) in try await ledger.create(batch) }
    }

    /// Returns the newest batch of discovered boards of the signed-in user, if some of its boards have no verdict yet. A service that was
    /// started again continues it, so that no board is left half done.
    public func unfinishedDiscovery(in ledger: any Ledger, options: BatchOptions = BatchOptions()) async throws
        -> Batch?
    {
        let (deployment, user) = try await owner(options)
        let batches = try await RainKitError.rethrowing { () async throws(LedgerError) in
            try await ledger.batches(limit: 1000)
        }
        let newest = batches.first { $0.sha256.isEmpty && $0.deployment == deployment && $0.user == user }
        guard let newest else { return nil }
        let counts = try await RainKitError.rethrowing { () async throws(LedgerError) in
            try await ledger.counts(of: newest.id)
        }
        return counts.waiting + counts.running > 0 ? newest : nil
    }

    /// Checks that the ledger has no unfinished batch of this file and this user: its boards would be provisioned twice.
    private func check(_ file: BatchFile, _ deployment: String, _ user: String, in ledger: any Ledger) async throws {
        let batches = try await RainKitError.rethrowing { () async throws(LedgerError) in
            try await ledger.batches(limit: 1000)
        }
        for batch in batches
        where batch.sha256 == file.sha256 && batch.deployment == deployment && batch.user == user {
            let counts = try await RainKitError.rethrowing { () async throws(LedgerError) in
                try await ledger.counts(of: batch.id)
            }
            guard counts.done < counts.total else { continue }
            let hasOnlyFailures = counts.waiting + counts.running == 0
            throw RainKitError(
                .request(.usage, reason: "unfinished_batch"),
                message: "Batch \(batch.id) of the same file is not finished: "
                    + "\(counts.done) of \(counts.total.counting("board")) \(counts.done == 1 ? "is" : "are") done"
                    + (hasOnlyFailures ? ", and the others failed." : "."),
                remedies: [hasOnlyFailures ? .retriedBatch(batch.id) : .resumedBatch(batch.id)])
        }
    }

    /// Returns a batch of a ledger: the one with this number, or the newest.
    /// - Throws: `RainKitError`: `no_such_batch`; the ledger's errors.
    public func batch(_ id: BatchID? = nil, in ledger: any Ledger) async throws -> Batch {
        let found = try await RainKitError.rethrowing { () async throws(LedgerError) -> Batch? in
            if let id { return try await ledger.batch(id) }
            return try await ledger.batches(limit: 1).first
        }
        if let found { return found }
        throw RainKitError(
            .request(.other, reason: "no_such_batch"),
            message: id.map { "The ledger \(ledger.place) has no batch \($0)." }
                ?? "The ledger \(ledger.place) has no batch yet.",
            remedies: [.knownBatch])
    }

    /// The account that boards get into, as a ledger records it.
    private func owner(_ options: BatchOptions) async throws -> (deployment: String, user: String) {
        guard options.mapsToUser else { return ("", "") }
        return (try account().name, try await userID().rawValue)
    }

    /// Provisions the boards of a batch that nobody has provisioned yet, many at a time, and records each step in the ledger.
    ///
    /// Several stations may work on one batch at the same time. A run that died is continued by the next one, which takes only the missing
    /// steps. Boards that failed stay failed until ``Ledger/retry(_:lines:)``.
    ///
    /// - Parameter file: the batch's file, which has the secrets of its boards. It must be as it was when the batch began. Nil for a batch of
    ///   boards that are discovered.
    public func provision(
        batch: Batch, in ledger: any Ledger, file: BatchFile?, options: BatchOptions = BatchOptions()
    ) -> BatchRun {
        let stop = BatchStop()
        return BatchRun(stop: stop) { report in
            var options = options
            // A batch that puts its boards into no account never does.
            if batch.deployment.isEmpty, batch.user.isEmpty { options.mapsToUser = false }
            let (deployment, user) = try await self.owner(options)
            guard deployment == batch.deployment, user == batch.user else {
                throw RainKitError(
                    .request(.usage, reason: "other_account"),
                    message: options.mapsToUser
                        ? "Batch \(batch.id) is for another account. Sign in with the account that began it."
                        : "Batch \(batch.id) puts its boards into an account, so it cannot continue without an account."
                )
            }
            guard (file?.sha256 ?? "") == batch.sha256 else { throw RainKitError.changedFile(of: batch) }
            let runner = BatchRunner(
                client: self, ledger: ledger, batch: batch, options: options, stop: stop, report: report)
            return try await runner.run(file?.entries ?? [])
        }
    }
}

/// A station's work on a batch, as a sequence of events. It begins at once.
///
/// ```swift
/// let run = kit.provision(batch: batch, in: ledger, file: file)
/// for try await case .failed(let board, let error) in run { print(board.name, error.message) }
/// print(try await run.counts)
/// ```
///
/// Releasing the value, or leaving its loop, cancels the run; ``stop()`` ends it between two steps of each board.
public struct BatchRun: AsyncSequence, Sendable {
    /// What happens while the station works.
    public typealias Element = BatchEvent
    private let events: AsyncThrowingStream<BatchEvent, any Error>
    private let task: Task<BatchCounts, any Error>
    private let stopping: BatchStop

    init(
        stop: BatchStop,
        _ run: @escaping @Sendable (@escaping @Sendable (BatchEvent) -> Void) async throws -> BatchCounts
    ) {
        let (events, continuation) = AsyncThrowingStream.makeStream(of: BatchEvent.self)
        let task = Task {
            do {
                let counts = try await run { continuation.yield($0) }
                continuation.finish()
                return counts
            } catch {
                let error = RainKitError(wrapping: error)
                continuation.finish(throwing: error)
                throw error
            }
        }
        continuation.onTermination = { reason in if case .cancelled = reason { task.cancel() } }
        self.events = events
        self.task = task
        stopping = stop
    }

    /// Ends the run in an orderly way: each board finishes the step that it is in, and no other board begins.
    public func stop() { stopping.set() }

    /// Ends the run at once. Boards stay as they are.
    public func cancel() { task.cancel() }

    /// The batch at the end of the run. Throws `RainKitError`.
    public var counts: BatchCounts {
        get async throws {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    public func makeAsyncIterator() -> AsyncThrowingStream<BatchEvent, any Error>.Iterator {
        events.makeAsyncIterator()
    }
}

/// A request to end a run between two steps.
final class BatchStop: Sendable {
    private let state = Mutex((isSet: false, waiting: [@Sendable () -> Void]()))

    var isSet: Bool { state.withLock { $0.isSet } }

    func set() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for call in waiting { call() }
    }

    /// Calls the closure once the run is to end, at once if that is known.
    func whenSet(_ call: @escaping @Sendable () -> Void) {
        let isSet = state.withLock { state in
            if !state.isSet { state.waiting.append(call) }
            return state.isSet
        }
        if isSet { call() }
    }
}

extension RainKitError {
    /// - Parameter path: where the list was read from: `-` for standard input, and nil if that is unknown.
    static func changedFile(of batch: Batch, givenAs path: String? = nil) -> RainKitError {
        let original =
            batch.sha256.isEmpty
            ? "a search for boards"
            : batch.file.isEmpty ? "the list from standard input" : "the file \(batch.file.onOneLine)"
        let fault =
            if let path, path == "-" || path.absolutePath != batch.file {
                "The lines of \(path == "-" ? "the list from standard input" : path.onOneLine) differ from those of batch \(batch.id), which "
                    + "began with \(original). They may be for other boards"
            } else if path == nil {
                "The given list of boards differs from that of batch \(batch.id), which began with \(original). Its lines may be for other "
                    + "boards"
            } else {
                "The content of \(original) has changed since batch \(batch.id) began. Its lines may now be for other boards"
            }
        return RainKitError(
            .request(.badData, reason: "changed_batch_file"), message: "\(fault), so nothing was started.",
            remedies: [.originalBatchFile])
    }
}

/// The machine's name, of letters, digits, dots and hyphens.
private func hostNameOfMachine() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "station" }
    let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return name.isEmpty ? "station" : name.onOneLine
}
