import DBus

/// What to do about a connection that did not come about. A value, so that the policy can be read and tested by itself.
enum ConnectFailure: Equatable {
    /// The device left BlueZ's tree meanwhile: it must be heard again first.
    case rescan
    /// The radio lost the attempt: the same once more.
    case again
    /// No attempt of ours can mend it.
    case machine(BluetoothError.Code)
    case cancelled

    init(_ error: DBusError) {
        switch (error.code, error.name) {
        case (.cancelled, _): self = .cancelled
        case (.disconnected, _): self = .machine(.noBus)
        case (_, "org.freedesktop.DBus.Error.UnknownObject"), (_, "org.freedesktop.DBus.Error.UnknownMethod"),
            (_, "org.bluez.Error.DoesNotExist"), (_, "org.bluez.Error.NotAvailable"):
            self = .rescan
        case (_, "org.bluez.Error.NotReady"): self = .machine(.poweredOff)
        case (_, "org.freedesktop.DBus.Error.AccessDenied"): self = .machine(.accessDenied)
        case (_, "org.freedesktop.DBus.Error.ServiceUnknown"): self = .machine(.noBlueZ)
        // le-connection-abort-by-local, Software caused connection abort, timeouts: all of these come and go.
        default: self = .again
        }
    }
}

/// How often and how fast a connection is tried again, within a time.
///
/// With a third of all attempts aborted, twelve in a row fail once in 300,000 connections.
struct RetryBudget: Sendable {
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
