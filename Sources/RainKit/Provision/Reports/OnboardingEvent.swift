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

/// A board that is set up, as far as the request asked.
public struct OnboardedNode: Sendable, Equatable {
    /// Whether the node is in the user's account.
    public enum Mapping: String, Sendable {
        /// The cloud has confirmed that the node is the user's.
        case confirmed
        /// It was not asked for.
        case skipped
    }

    /// Absent when the board was not tied to an account and did not say its id.
    public var nodeID: NodeID?
    /// The network it is on by its own word; nil where its Wi-Fi was left alone, and where only the cloud saw it there.
    public var network: JoinedNetwork?
    /// What became of the request to put it into the account.
    public var mapping: Mapping
    /// Whether this run gave the board its certificate.
    public var claimed: Bool
    /// Whether this run only finished at the cloud what an earlier one had begun.
    public var resumed: Bool
    /// What the board said of itself; nil where it was not asked, as after a run that only finished an earlier one.
    public var identity: BoardIdentity?
    /// What the board's application has answered to what it was sent, by endpoint.
    public var customData: [CustomData]
    /// The time the run took.
    public var elapsed: Duration

    public init(
        nodeID: NodeID?, network: JoinedNetwork?, mapping: Mapping, claimed: Bool = false, resumed: Bool = false,
        identity: BoardIdentity? = nil, customData: [CustomData] = [], elapsed: Duration
    ) {
        self.nodeID = nodeID
        self.network = network
        self.mapping = mapping
        self.claimed = claimed
        self.resumed = resumed
        self.identity = identity
        self.customData = customData
        self.elapsed = elapsed
    }
}

extension OnboardingEvent: CustomStringConvertible {
    /// For logs and examples: the step and what became of it, such as `connect: finished`. Never holds a secret.
    public var description: String {
        switch state {
        case .started: "\(step.rawValue): started"
        case .finished: "\(step.rawValue): finished"
        case .deferred(let why): "\(step.rawValue): deferred (\(why))"
        case .failed(let error): "\(step.rawValue): failed (\(error.message))"
        case .progress(let progress): "\(step.rawValue): \(progress.word)"
        }
    }
}

extension OnboardingProgress {
    fileprivate var word: String {
        switch self {
        case .identified: "the board is identified"
        case .heard(let networks): "\(networks.count) networks in reach"
        case .claimInitiated(let node): "may be claimed as \(node)"
        case .certificateRequested: "a certificate is requested"
        case .claimed(let node): "claimed as \(node)"
        case .customData(let endpoint, let answer): "\(endpoint) answered with \(answer.count) bytes"
        case .wifi: "joining"
        case .connected(let network): "on \(network.ssid) as \(network.address)"
        case .resumed(let node): "the mapping of \(node) is finished"
        case .abandoned(let node, let why): "the mapping of \(node) is given up (\(why))"
        case .associationLeftOpen(let why): "the board may still be put into other accounts (\(why))"
        case .waitingForBoard: "waiting for the board"
        case .waitingForCloud: "waiting for the cloud"
        case .waitingForNode: "waiting for the cloud to see the node"
        }
    }
}

extension OnboardedNode: CustomStringConvertible {
    /// For logs and examples, such as `node n1, mapping confirmed, on Home as 192.168.1.17`.
    public var description: String {
        let place = network.map { ", on \($0.ssid) as \($0.address)" } ?? ""
        return "node \(nodeID.map { "\($0)" } ?? "unknown"), mapping \(mapping.rawValue)\(place)"
    }
}
