// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

/// One thing that happened while a board was set up: what progress lines and `--events` are made of.
public struct OnboardingEvent: Sendable {
    public enum State: Sendable {
        case started
        case progress(OnboardingProgress)
        case finished
        /// The cloud could not be reached; the step is made up for later in the run.
        case deferred(String)
        case failed(OnboardingError)
    }

    public var step: OnboardingStep
    public var state: State
    /// Counts the tries at Wi-Fi credentials, from 1.
    public var attempt: Int
    /// Since the run began.
    public var elapsed: Duration
    /// Once the board has said it.
    public var nodeID: NodeID?
}

/// What a step has to tell before it ends.
public enum OnboardingProgress: Sendable, Equatable {
    case identified(BoardIdentity)
    case heard([AccessPoint])
    /// The service lets the board be claimed.
    case claimInitiated(NodeID)
    /// The board has made its request for a certificate.
    case certificateRequested
    /// The board has its certificate.
    case claimed(NodeID)
    case wifi(WiFiProgress)
    case connected(JoinedNetwork)
    /// An earlier run's mapping was finished.
    case resumed(NodeID)
    /// An earlier run's mapping could not be finished and is given up.
    case abandoned(NodeID, String)
    case waitingForBoard
    case waitingForCloud
}
