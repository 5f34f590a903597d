// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What a board's log tells of an attempt that an earlier run began, and when it is not waited for any longer. A value, so that the policy
/// can be read and tested by itself.
struct EarlierAttempt: Sendable {
    /// A board whose log says nothing of it for so long is not trying.
    static let patience = Duration.seconds(40)
    /// After a failure the application resets its board at once, or tries again, or not at all.
    static let patienceAfterFailure = Duration.seconds(6)

    /// It came to nothing at least once.
    private(set) var hasFailed = false
    /// When the board last said something of it.
    private var lastSign = Duration.zero
    private var ssid: [UInt8] = []
    /// Somebody has been told that it is waited for.
    var isTold = false
    private var schedule = Self.schedule

    private static var schedule: PollSchedule { PollSchedule(from: .milliseconds(100), to: .seconds(2)) }

    init(hasFailed: Bool = false, since now: Duration = .zero) {
        self.hasFailed = hasFailed
        lastSign = now
    }

    enum Outcome: Sendable, Equatable {
        case arrived(JoinedNetwork)
        case failed
    }

    mutating func take(_ event: BoardEvent, at now: Duration) -> Outcome? {
        switch event {
        case .associated(let ssid):
            self.ssid = ssid
            lastSign = now
            return nil
        case .gotAddress(let address): return .arrived(JoinedNetwork(address: address, ssid: SSID(ssid)))
        case .authenticationFailed, .networkNotFound, .provisioningFailed, .restarted:
            hasFailed = true
            lastSign = now
            schedule = Self.schedule
            return .failed
        case .disconnected, .retrying:
            lastSign = now
            return nil
        case .nodeID, .mappingStarted, .invalidUsage, .commandFailed, .lineDiscarded, .settingsRefused,
            .connectingToCloud, .unclaimed:
            return nil
        }
    }

    /// How long to listen before the board is asked again. Something new ends it.
    mutating func nextPause() -> Duration { max(schedule.next(), .milliseconds(100)) }

    /// Whether the board is to be asked again.
    func isWorthWaiting(at now: Duration) -> Bool {
        now - lastSign < (hasFailed ? Self.patienceAfterFailure : Self.patience)
    }
}
