// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// The failure of a connection attempt.
enum AttemptError: Error, CustomStringConvertible {
    case failed(ConnectFailure, DBusError)
    /// Connected, but disconnected before everything was known.
    case lost
    /// Connected, but without the endpoints of a board.
    case stale
    case other(BluetoothError)

    var isCancellation: Bool {
        switch self {
        case .failed(.cancelled, _): true
        case .other(let error): error.code == .cancelled
        default: false
        }
    }

    /// For the log.
    var description: String {
        switch self {
        case .failed(_, let error): error.message
        case .lost: "the connection broke"
        case .stale: "no endpoints"
        case .other(let error): "\(error.code)"
        }
    }
}

/// The attempts for one connection: the action after each failure, and the error that is reported in the end. It is a value, so that the
/// policy can be read and tested by itself.
struct ConnectAttempts: Sendable {
    enum Next: Equatable {
        /// Try again after this pause, with the board that was found.
        case sameBoard(Duration)
        /// Try again after this pause, once the board was received again.
        case listenAgain(Duration)
        /// Make BlueZ forget the board, and try again once it was received again.
        case forget
    }

    private var budget: RetryBudget
    private let patience: Duration
    private var hasForgotten: Bool
    private var last: BluetoothError?
    /// When this machine's Bluetooth first reported that it is not ready.
    private var notReadySince: ContinuousClock.Instant?
    /// Why the last attempt failed that was not cut off.
    private var failureHeard: String?
    /// Attempts that failed although BlueZ has a bond with the board.
    private var failuresWithBond = 0

    /// - Parameters:
    ///   - limit: for all attempts together.
    ///   - hasForgotten: whether BlueZ has no earlier data about the board. If it has, it is made to forget it once, if that may help.
    ///   - patience: how long to wait for an adapter that is not ready.
    init(
        within limit: Duration, hasForgotten: Bool, maximum: Int = RetryBudget.maximumAttempts,
        patience: Duration = AdapterLoss.patience, now: ContinuousClock.Instant = .now
    ) {
        budget = RetryBudget(within: limit, maximum: maximum, now: now)
        self.patience = patience
        self.hasForgotten = hasForgotten
    }

    var end: ContinuousClock.Instant { budget.end }

    /// The number of this attempt, from 1.
    var number: Int { budget.attempts + 1 }

    /// Returns the action after a failed attempt.
    ///
    /// - Parameters:
    ///   - board: the board's name in messages.
    ///   - isBonded: whether BlueZ had keys for it. A board that lost its own keys breaks each link when it is to be encrypted.
    /// - Throws: the error to report, if no further attempt is made.
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
            // The end of the time cuts off the last attempt, which is not the cause.
            let isCutOff = cause.code == .timeout && failureHeard != nil
            if !isCutOff { failureHeard = cause.message }
            let words = failureHeard ?? cause.message
            let attempts = number == 1 ? "one attempt" : "\(number) attempts"
            reason = "No Bluetooth connection to \(board) was made in \(attempts) (\(words))"
        case .lost: reason = "The Bluetooth connection to \(board) broke each time"
        case .stale:
            let told = BluetoothError(
                .connectionFailed,
                message: "\(board) has no provisioning service. Check that the board is in provisioning mode.")
            guard !hasForgotten else { throw told }
            hasForgotten = true
            last = told
            return .forget
        }
        let told = BluetoothError(
            .connectionFailed, message: reason + ". Move nearer to the board, or restart the board.")
        last = told
        guard let pause = budget.next(now: now) else { throw told }
        if isBonded { failuresWithBond += 1 }
        guard failuresWithBond != Self.failuresUntilBondIsForgotten || !isBonded else { return .forget }
        return isHeard ? .sameBoard(pause) : .listenAgain(pause)
    }

    /// One broken link is a radio problem; a board that breaks two in a row has most likely lost its keys.
    private static let failuresUntilBondIsForgotten = 2

    /// Waits, since the scan reports a lasting problem. If the scan does not notice it, this ends the attempts.
    private mutating func notReady(
        _ error: BluetoothError, _ now: ContinuousClock.Instant
    ) throws(BluetoothError) -> Next {
        let since = notReadySince ?? now
        notReadySince = since
        last = error
        guard now < since + patience, let pause = budget.next(now: now) else { throw error }
        return .listenAgain(pause)
    }

    /// Returns the error if no board was found: that it was received before, and what broke the connections.
    func unfound(_ error: BluetoothError) -> BluetoothError {
        error.code == .notFound ? last ?? error : error
    }
}

/// The action after a connection that was not made. It is a value, so that the policy can be read and tested by itself.
enum ConnectFailure: Equatable {
    /// The device left BlueZ's tree meanwhile: it must be received again first.
    case rescan
    /// The radio lost the attempt: try the same again.
    case again
    /// This machine's Bluetooth is not ready, which passes if BlueZ or the adapter has just returned.
    case passing(BluetoothError)
    /// No attempt through this adapter can succeed.
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
            if BlueZErrorName.isConnectionLimit(error) {
                self = .machine(.allLinksInUse)
                return
            }
            switch meaning.code {
            case .poweredOff, .noBlueZ, .noAdapter: self = .passing(meaning)
            // le-connection-abort-by-local, Software caused connection abort, timeouts: all of these are temporary.
            case .connectionFailed: self = .again
            default: self = .machine(meaning)
            }
        }
    }
}

/// How often and how fast a connection is tried again, within a time.
///
/// It is a value, so that the policy can be read and tested by itself.
struct RetryBudget: Sendable {
    /// If half of all attempts are aborted, this many in a row fail once in 16 million connections. So it is not chance.
    static let maximumAttempts = 24
    private(set) var attempts = 0
    private var pause = Duration.milliseconds(50)
    let end: ContinuousClock.Instant

    private let maximum: Int

    init(within limit: Duration, maximum: Int = maximumAttempts, now: ContinuousClock.Instant = .now) {
        end = now + limit
        self.maximum = maximum
    }

    func left(now: ContinuousClock.Instant = .now) -> Duration { max(end - now, .zero) }

    /// Returns the pause before the next attempt: none at first, then growing to a second. Nil if there is no further attempt.
    mutating func next(now: ContinuousClock.Instant = .now) -> Duration? {
        attempts += 1
        guard attempts < maximum, now < end else { return nil }
        guard attempts > 1 else { return .zero }
        defer { pause = min(pause * 3 / 2, .seconds(1)) }
        return min(pause, end - now)
    }
}

/// The maximum time for one part of a connection attempt, from the remaining time: if a part hangs, enough is left for another link. It is
/// a value, so that the policy can be read and tested by itself.
enum ConnectShare {
    /// A board that advertises is connected within a second; BlueZ itself gives up after about 20 s.
    static func connect(of left: Duration) -> Duration { share(left, parts: 3, atMost: .seconds(10)) }

    /// From the connection to the resolved services.
    static func resolve(of left: Duration) -> Duration { share(left, parts: 2, atMost: .seconds(12)) }

    /// With less, a slow link would never have enough time.
    private static let least = Duration.seconds(4)

    private static func share(_ left: Duration, parts: Int, atMost most: Duration) -> Duration {
        max(.zero, min(left, most, max(least, left / parts)))
    }
}
