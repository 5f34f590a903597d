// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// How a failed attempt at a connection ended.
enum AttemptError: Error {
    case failed(ConnectFailure, DBusError)
    /// Connected, and gone before everything was known.
    case lost
    /// Connected, and without the endpoints of a board.
    case stale
    case other(BluetoothError)

    var isCancellation: Bool {
        switch self {
        case .failed(.cancelled, _): true
        case .other(let error): error.code == .cancelled
        default: false
        }
    }
}

/// The attempts at one connection: what is done after each failure, and which error is reported in the end. A value, so that the policy can
/// be read and tested by itself.
struct ConnectAttempts: Sendable {
    enum Next: Equatable {
        /// After that pause, with the board that was found.
        case sameBoard(Duration)
        /// After that pause, once it was heard anew.
        case listenAgain(Duration)
        /// Once BlueZ has forgotten the board, and it was heard anew.
        case forget
    }

    private var budget: RetryBudget
    private var hasForgotten: Bool
    private var last: BluetoothError?
    /// Since when this machine's Bluetooth says that it is not ready.
    private var notReadySince: ContinuousClock.Instant?
    /// Attempts that failed although BlueZ has a bond with the board.
    private var failuresWithBond = 0

    /// - Parameters:
    ///   - limit: for all of them together.
    ///   - hasForgotten: whether BlueZ knows nothing of the board from before; else it is made to forget it where that may help, once.
    init(within limit: Duration, hasForgotten: Bool, now: ContinuousClock.Instant = .now) {
        budget = RetryBudget(within: limit, now: now)
        self.hasForgotten = hasForgotten
    }

    var end: ContinuousClock.Instant { budget.end }

    /// Which one this is, from 1.
    var number: Int { budget.attempts + 1 }

    /// What to do after an attempt.
    ///
    /// - Parameters:
    ///   - board: how messages name it.
    ///   - isBonded: whether BlueZ had keys for it. A board that lost its own breaks each link as soon as it is to be encrypted.
    /// - Throws: the error to report, where no further attempt is made.
    mutating func failed(
        _ error: AttemptError, board: String, isBonded: Bool = false, now: ContinuousClock.Instant = .now
    ) throws(BluetoothError) -> Next {
        if case .failed(.passing(let error), _) = error { return try notReady(error, now) }
        notReadySince = nil
        let reason: String
        var isHeard = false
        switch error {
        case .other(let error), .failed(.machine(let error), _), .failed(.passing(let error), _): throw error
        case .failed(.cancelled, _): throw .cancelled
        case .failed(let failure, let cause):
            isHeard = failure == .again
            reason = "No Bluetooth connection to \(board) came about in \(number) attempts (\(cause.message))"
        case .lost: reason = "The Bluetooth connection to \(board) broke each time it came about"
        case .stale:
            let told = BluetoothError(
                .connectionFailed, message: "\(board) has no provisioning service: is it in provisioning mode?")
            guard !hasForgotten else { throw told }
            hasForgotten = true
            last = told
            return .forget
        }
        let told = BluetoothError(.connectionFailed, message: reason + ": move nearer to it, or restart it.")
        last = told
        guard let pause = budget.next(now: now) else { throw told }
        if isBonded { failuresWithBond += 1 }
        guard failuresWithBond != Self.failuresUntilBondIsForgotten || !isBonded else { return .forget }
        return isHeard ? .sameBoard(pause) : .listenAgain(pause)
    }

    /// The radio breaks one link; the same board a second time in a row has most likely lost its keys.
    private static let failuresUntilBondIsForgotten = 2

    /// The scan says whether that lasts; where it does not notice, an end is made here.
    private mutating func notReady(
        _ error: BluetoothError, _ now: ContinuousClock.Instant
    ) throws(BluetoothError) -> Next {
        let since = notReadySince ?? now
        notReadySince = since
        last = error
        guard now < since + AdapterLoss.patience, let pause = budget.next(now: now) else { throw error }
        return .listenAgain(pause)
    }

    /// The error to report where no board was found: that it was heard before, and what broke the connections.
    func unfound(_ error: BluetoothError) -> BluetoothError {
        error.code == .notFound ? last ?? error : error
    }
}

/// What to do about a connection that did not come about. A value, so that the policy can be read and tested by itself.
enum ConnectFailure: Equatable {
    /// The device left BlueZ's tree meanwhile: it must be heard again first.
    case rescan
    /// The radio lost the attempt: the same once more.
    case again
    /// This machine's Bluetooth says that it is not ready, which passes where BlueZ or the adapter has just come back.
    case passing(BluetoothError)
    /// No attempt through this adapter can mend it.
    case machine(BluetoothError)
    case cancelled

    /// - Parameter adapter: its path.
    init(_ error: DBusError, adapter: String) {
        switch (error.code, error.name) {
        case (.cancelled, _): self = .cancelled
        case (_, DBusErrorName.unknownObject), (_, DBusErrorName.unknownMethod), (_, BlueZErrorName.doesNotExist),
            (_, BlueZErrorName.notAvailable):
            self = .rescan
        default:
            let meaning = BluetoothError(adapter: adapter, error)
            switch meaning.code {
            case .poweredOff, .noBlueZ, .noAdapter: self = .passing(meaning)
            // le-connection-abort-by-local, Software caused connection abort, timeouts: all of these come and go.
            case .connectionFailed: self = .again
            default: self = .machine(meaning)
            }
        }
    }
}

/// How often and how fast a connection is tried again, within a time.
///
/// A value, so that the policy can be read and tested by itself.
struct RetryBudget: Sendable {
    /// With half of all attempts aborted, so many in a row fail once in 16 million connections: it is not the radio's chance then.
    static let maximumAttempts = 24
    private(set) var attempts = 0
    private var pause = Duration.milliseconds(50)
    let end: ContinuousClock.Instant

    init(within limit: Duration, now: ContinuousClock.Instant = .now) { end = now + limit }

    func left(now: ContinuousClock.Instant = .now) -> Duration { max(end - now, .zero) }

    /// The pause before the next attempt, or nil when there is none: at once at first, then growing to a second.
    mutating func next(now: ContinuousClock.Instant = .now) -> Duration? {
        attempts += 1
        guard attempts < Self.maximumAttempts, now < end else { return nil }
        guard attempts > 1 else { return .zero }
        defer { pause = min(pause * 3 / 2, .seconds(1)) }
        return min(pause, end - now)
    }
}

/// How long one part of an attempt at a connection may take, of the time that is left: a part that hangs leaves enough for another link.
/// A value, so that the policy can be read and tested by itself.
enum ConnectShare {
    /// A board that advertises is connected to within a second; BlueZ itself gives up after some 20 s.
    static func connect(of left: Duration) -> Duration { share(left, parts: 3, atMost: .seconds(10)) }

    /// From the connection to the resolved services.
    static func resolve(of left: Duration) -> Duration { share(left, parts: 2, atMost: .seconds(12)) }

    /// With less, a slow link would never be given its time.
    private static let least = Duration.seconds(4)

    private static func share(_ left: Duration, parts: Int, atMost most: Duration) -> Duration {
        max(.zero, min(left, most, max(least, left / parts)))
    }
}
