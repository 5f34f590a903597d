// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// Records what is done to each board of a batch, step by step, so that a run that died can be continued and nothing is done twice.
///
/// A ledger has batches, a batch has boards, and a board has steps. Several stations may work on one batch. A station opens a *session*,
/// which it keeps alive with ``renew(_:for:)``. With its session it leases boards; each lease has a number, the *fence*, which grows with
/// every lease of that board. A record with an old fence is refused, so a station whose session ran out while it was stopped cannot
/// overwrite what another station has done since.
///
/// A ledger holds no secrets: neither proofs of possession nor Wi-Fi passwords nor tokens. It stores texts as they are given, except that
/// U+FFFD replaces the NUL character, which PostgreSQL cannot store. Times are stored to the millisecond, in the years 1970 to 9999.
///
/// Once a call that writes returns, its content survives a loss of power. Every call ends within a bound, also while its task is
/// cancelled; a cancelled call may still have written. ``SQLiteLedger`` and ``PostgreSQLLedger`` implement the protocol, and
/// `LedgerConformance` in RainKitTesting checks these promises.
public protocol Ledger: Sendable {
    /// Where the ledger is, for messages. Holds no password.
    var place: String { get }

    /// Adds a batch with all its boards, in one transaction. If boards have the same line, only the first one of them is added.
    func create(_ batch: NewBatch) async throws(LedgerError) -> Batch
    /// Returns the batches, newest first.
    func batches(limit: Int) async throws(LedgerError) -> [Batch]
    /// Returns the batch with this number; nil if the ledger does not have it.
    func batch(_ id: BatchID) async throws(LedgerError) -> Batch?
    /// Returns how many boards are in which state.
    func counts(of batch: BatchID) async throws(LedgerError) -> BatchCounts
    /// Returns the boards of a batch in the order of their lines, after the line `after`, at most `limit`.
    func boards(of batch: BatchID, after line: Int, limit: Int) async throws(LedgerError) -> [LedgerBoard]
    /// Returns the steps of a board in the order in which they were recorded. Only `LedgerChange.Event.step` makes a step.
    func steps(of board: LedgerBoard.ID) async throws(LedgerError) -> [LedgerStep]
    /// Adds a board that a session has discovered, with the next line of the batch.
    ///
    /// Nothing is added if the batch has a board at this address already. Nothing is added either if another session, which has not run out,
    /// works on a board at this address, or if the batch from which that session leased last has such a board that waits, runs or is done. So
    /// two stations with one radio do not disturb each other. An address that is local to a machine, such as `serial:/dev/ttyUSB0`, is compared only with those of sessions of
    /// the same station.
    /// - Returns: the line of the board; nil if nothing was added.
    func add(
        _ board: DiscoveredAddress, to batch: BatchID, for session: LedgerSession.ID
    ) async throws(LedgerError) -> Int?
    /// Puts failed boards back, so that they are leased again: all of the batch, or those of these lines.
    /// - Returns: how many were put back.
    func retry(_ batch: BatchID, lines: [Int]?) async throws(LedgerError) -> Int

    /// Opens a session of a station, which lasts for `duration` unless it is renewed.
    func openSession(_ station: String, for duration: Duration) async throws(LedgerError) -> LedgerSession.ID
    /// Lets a session last for `duration` from now, also one that has run out: boards that no other station has leased since are still its
    /// own. Throws `unavailable` if the session was closed.
    func renew(_ session: LedgerSession.ID, for duration: Duration) async throws(LedgerError)
    /// Ends a session. Boards that it still has wait again. Closing it once more changes nothing.
    func closeSession(_ session: LedgerSession.ID) async throws(LedgerError)
    /// Leases boards that wait, and boards of other sessions that have run out, in the order of their lines. Never waits for other stations.
    ///
    /// A session never leases a board that it has already. A board waits on if another session, which has not run out, has leased a board at
    /// the same address in another batch (see ``add(_:to:for:)``). The boards' state becomes `running`, and their attempt grows by one. The attempt is also the fence.
    ///
    /// If this throws `temporary`, the ledger may have leased boards whose names the caller does not know. The session's next lease on the
    /// same `Ledger` puts them back first, so a session belongs to one `Ledger`. Throws `unavailable` if the session was closed.
    func lease(_ count: Int, of batch: BatchID, for session: LedgerSession.ID) async throws(LedgerError)
        -> [LeasedBoard]
    /// Records what happened to leased boards, in one transaction, in this order. Recording the same again changes nothing.
    ///
    /// After `done`, `failed` or `released` the lease has ended, and later changes with its fence are `lost`.
    /// - Returns: what became of each change, in the order of the changes.
    func record(_ changes: [LedgerChange]) async throws(LedgerError) -> [LedgerChange.Outcome]

    /// Closes files and connections. No other call may follow.
    func close() async
}

/// The number of a batch in its ledger.
public typealias BatchID = Int64

/// A session of a station, which runs out unless it is renewed.
public enum LedgerSession {
    /// The number of a session in its ledger; no number is used twice.
    public typealias ID = Int64
}

/// A board that was discovered, as a ledger records it.
public struct DiscoveredAddress: Sendable, Equatable {
    /// What people call it.
    public var name: String
    /// How it is reached, such as `ble:7C:DF:A1:00:00:01`.
    public var address: String

    public init(name: String, address: String) {
        self.name = name
        self.address = address
    }
}

/// What is to be recorded about a new batch.
public struct NewBatch: Sendable, Equatable {
    /// One board: a line of the file.
    public struct Board: Sendable, Equatable {
        /// The number of its line in the file, from 1; discovered boards count on from the last line.
        public var line: Int
        /// What people call it: the name column, or the name on its label, or its address.
        public var name: String
        /// How it is reached, such as `serial:/dev/ttyUSB0` or `ble:PROV_a1b2c3`.
        public var address: String

        public init(line: Int, name: String, address: String) {
            self.line = line
            self.name = name
            self.address = address
        }
    }

    /// The absolute path of the file that lists the boards; empty for standard input and for discovered boards.
    public var file: String
    /// The SHA-256 of the file in lower-case hex digits; empty without a file.
    public var sha256: String
    /// The deployment or provider of the account, such as `global`.
    public var deployment: String
    /// The user whose account the boards get into; empty if they get into none.
    public var user: String
    /// When the batch was made, by this station's clock.
    public var created: UnixTime
    /// The boards, one for each line.
    public var boards: [Board]

    public init(
        file: String, sha256: String, deployment: String, user: String, created: UnixTime, boards: [Board]
    ) {
        self.file = file
        self.sha256 = sha256
        self.deployment = deployment
        self.user = user
        self.created = created
        self.boards = boards
    }
}

/// A batch as the ledger has it, without its boards.
public struct Batch: Sendable, Equatable {
    public var id: BatchID
    /// The absolute path of the file that lists the boards; empty without a file.
    public var file: String
    /// The SHA-256 of the file in lower-case hex digits; empty without a file.
    public var sha256: String
    /// The deployment or provider of the account.
    public var deployment: String
    /// The user whose account the boards get into; empty if they get into none.
    public var user: String
    /// When it was made, by the clock of the station that made it.
    public var created: UnixTime

    public init(
        id: BatchID, file: String, sha256: String, deployment: String, user: String, created: UnixTime
    ) {
        self.id = id
        self.file = file
        self.sha256 = sha256
        self.deployment = deployment
        self.user = user
        self.created = created
    }
}

/// How many boards of a batch are in which state.
public struct BatchCounts: Sendable, Equatable {
    /// Boards that no session has leased.
    public var waiting = 0
    /// Boards that a session has leased, also one that has run out.
    public var running = 0
    /// Boards that are provisioned.
    public var done = 0
    /// Boards that are given up.
    public var failed = 0
    /// Running boards whose session has run out: no station works on them.
    public var abandoned = 0

    public init(waiting: Int = 0, running: Int = 0, done: Int = 0, failed: Int = 0, abandoned: Int = 0) {
        self.waiting = waiting
        self.running = running
        self.done = done
        self.failed = failed
        self.abandoned = abandoned
    }

    /// All boards of the batch.
    public var total: Int { waiting + running + done + failed }
}

/// A board of a batch, with the last that is known about it.
public struct LedgerBoard: Sendable, Equatable, Identifiable {
    /// How far the board is.
    public enum State: String, Sendable, CaseIterable { case waiting, running, done, failed }

    public var id: Int64
    /// Its batch.
    public var batch: BatchID
    /// The number of its line in the file, from 1.
    public var line: Int
    /// What people call it.
    public var name: String
    /// How it is reached, as in `NewBatch.Board`.
    public var address: String
    /// How far it is.
    public var state: State
    /// How often the board was leased.
    public var attempt: Int
    /// The station that leased it last; nil before its first lease.
    public var station: String?
    /// The node id that it has reported; nil until then.
    public var nodeID: String?
    /// Twelve lower-case hex digits.
    public var mac: String?
    /// The step that was recorded last, and its state.
    public var step: String?
    /// The state of that step.
    public var stepState: LedgerStep.State?
    /// Why it failed; nil unless it did.
    public var failure: LedgerFailure?
    /// When its last lease began.
    public var started: UnixTime?
    /// When it succeeded or failed.
    public var ended: UnixTime?

    public init(
        id: Int64, batch: BatchID, line: Int, name: String, address: String, state: State = .waiting, attempt: Int = 0
    ) {
        self.id = id
        self.batch = batch
        self.line = line
        self.name = name
        self.address = address
        self.state = state
        self.attempt = attempt
    }
}

/// A board that a session may work on, until another session leases it.
public struct LeasedBoard: Sendable, Equatable {
    /// The board as it is after the lease.
    public var board: LedgerBoard
    /// The session that leased it.
    public var session: LedgerSession.ID
    /// The number of the lease: the attempt of the board.
    public var fence: Int64

    public init(board: LedgerBoard, session: LedgerSession.ID, fence: Int64) {
        self.board = board
        self.session = session
        self.fence = fence
    }
}

/// Why a board failed, as `RainKitError` has it.
public struct LedgerFailure: Sendable, Equatable {
    /// The exit code, such as 11.
    public var code: Int
    /// The reason, such as `wrong_pop`.
    public var reason: String
    /// What happened, as a sentence.
    public var message: String
    /// What to try; empty if nothing is known.
    public var remedy: String

    public init(code: Int, reason: String, message: String, remedy: String) {
        self.code = code
        self.reason = reason
        self.message = message
        self.remedy = remedy
    }
}

/// A step of a board, as it was recorded.
public struct LedgerStep: Sendable, Equatable {
    /// How a step began or ended.
    public enum State: String, Sendable, CaseIterable { case started, finished, deferred, failed }

    /// The lease in which it happened, from 1.
    public var attempt: Int
    /// The station that recorded it.
    public var station: String
    /// The name of an `OnboardingStep`.
    public var step: String
    /// How it began or ended.
    public var state: State
    /// When it happened, by the station's clock.
    public var time: UnixTime

    public init(attempt: Int, station: String, step: String, state: State, time: UnixTime) {
        self.attempt = attempt
        self.station = station
        self.step = step
        self.state = state
        self.time = time
    }
}

/// Something that happened to a leased board.
public struct LedgerChange: Sendable, Equatable {
    /// What has happened.
    public enum Event: Sendable, Equatable {
        /// A step begins or ends.
        case step(String, LedgerStep.State)
        /// The board has reported who it is. No other board of the batch may have the same node id or MAC address.
        case identified(nodeID: String?, mac: String?)
        /// The board is provisioned.
        case done(nodeID: String?)
        /// The board is given up until ``Ledger/retry(_:lines:)``.
        case failed(LedgerFailure)
        /// The station stops without a verdict. The board waits again.
        case released
    }

    /// What became of a change.
    public enum Outcome: Sendable, Equatable {
        /// It is in the ledger, now or already before.
        case recorded
        /// The lease has ended, or another session has leased the board since: nothing was recorded.
        case lost
        /// The board of this line has the same node id or MAC address: nothing was recorded.
        case duplicate(line: Int)
    }

    /// The leased board.
    public var board: LedgerBoard.ID
    /// The session of the lease.
    public var session: LedgerSession.ID
    /// The fence of the lease.
    public var fence: Int64
    /// The number of the change within the lease, from 1. A change that was recorded already is known by it.
    public var number: Int
    /// When it happened, by the station's clock.
    public var time: UnixTime
    /// What happened.
    public var event: Event

    public init(
        board: LedgerBoard.ID, session: LedgerSession.ID, fence: Int64, number: Int, time: UnixTime, event: Event
    ) {
        self.board = board
        self.session = session
        self.fence = fence
        self.number = number
        self.time = time
        self.event = event
    }
}

/// A ledger could not be read or written.
public struct LedgerError: Error, Sendable, Equatable {
    /// The kind of failure, for programs that act on it.
    public enum Code: String, Sendable {
        /// The library for it is not installed, or the ledger or its server does not exist, or it has no batch, board or session of that
        /// number.
        case unavailable
        /// The connection was lost, or the server restarts, or another process has the file for too long: trying again may help. What the
        /// call should have written is written or not.
        case temporary
        /// The server or the file system allows no access, or the disk is full. Nothing was written.
        case cannotWrite
        /// The server does not accept the user or the password.
        case auth
        /// The ledger was written by a newer version of this program.
        case newer
        /// It is no ledger, or it is damaged.
        case damaged
        /// The call was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public var code: Code
    /// One or two sentences: what happened, and what to try.
    public var message: String
    /// The call has waited for its whole limit, so that the calls behind it need not try.
    var hasWaited = false
    /// The place has no ledger, and none was to be created.
    var isMissing = false

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
