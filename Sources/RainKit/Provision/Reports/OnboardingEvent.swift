// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

/// One thing that happened while a board was set up: what progress lines and `--events` are made of.
public struct OnboardingEvent: Sendable {
    /// How far a step has come.
    public enum State: Sendable {
        /// The step begins; `join` and `connect` begin again with other Wi-Fi credentials.
        case started
        /// Something is known before the step ends.
        case progress(OnboardingProgress)
        /// The step has done what it is there for.
        case finished
        /// The step could not do what it is there for: the cloud could not be reached, or the board stopped answering. It is made up for
        /// later in the run, and does not finish.
        case deferred(String)
        /// The step has ended with this error, and with it the run, unless `join` begins again with other Wi-Fi credentials.
        case failed(OnboardingError)
    }

    /// The step that it happened in.
    public var step: OnboardingStep
    /// What has happened in it.
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
    /// The board has answered, and said what it is and can do.
    case identified(BoardIdentity)
    /// The networks that the board hears, strongest first.
    case heard([AccessPoint])
    /// The service lets the board be claimed.
    case claimInitiated(NodeID)
    /// The board has made its request for a certificate.
    case certificateRequested
    /// The board has its certificate.
    case claimed(NodeID)
    /// The board's application has answered what it was sent at that endpoint.
    case customData(String, answer: [UInt8])
    /// How the board's attempt to join comes along.
    case wifi(WiFiProgress)
    /// The board is on its network; its address is empty where the board did not say it.
    case connected(JoinedNetwork)
    /// An earlier run's mapping was finished.
    case resumed(NodeID)
    /// An earlier run's mapping could not be finished and is given up.
    case abandoned(NodeID, String)
    /// The board is in the account, and could not be told to take no further challenges: why.
    case associationLeftOpen(String)
    /// The board is not there yet, and is looked for until the deadline.
    case waitingForBoard
    /// The cloud has not confirmed the mapping yet, and is asked again.
    case waitingForCloud
    /// The board is in the account and does not answer: the cloud is asked whether it sees the board on its network.
    case waitingForNode
}
