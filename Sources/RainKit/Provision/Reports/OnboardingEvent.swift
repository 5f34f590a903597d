// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

/// One event while a board is set up. Progress lines and `--events` are made of them.
public struct OnboardingEvent: Sendable {
    /// How far a step is.
    public enum State: Sendable {
        /// The step begins; `join` and `connect` begin again with other Wi-Fi credentials.
        case started
        /// Something is known before the step ends.
        case progress(OnboardingProgress)
        /// The step has succeeded.
        case finished
        /// The step could not be completed: the cloud could not be reached, or the board stopped answering. The run completes it later; no
        /// `finished` follows.
        case deferred(String)
        /// The step has failed with this error. The run ends too, unless `join` begins again with other Wi-Fi credentials. The step `name`
        /// does not end it either: the board is in the account.
        case failed(RainKitError)
    }

    /// The step in which it happened.
    public var step: OnboardingStep
    /// What happened in the step.
    public var state: State
    /// The number of the attempt with Wi-Fi credentials, from 1.
    public var attempt: Int
    /// The time since the run began.
    public var elapsed: Duration
    /// The board's node id, once the board has reported it.
    public var nodeID: NodeID?
}

/// What a step reports before it ends.
public enum OnboardingProgress: Sendable, Equatable {
    /// The board has answered, and reported what it is and can do.
    case identified(BoardIdentity)
    /// The networks that the board hears, strongest first.
    case heard([AccessPoint])
    /// The board cannot list the networks that it hears, so the network is asked for by its name.
    case cannotListNetworks
    /// The service lets the board be claimed.
    case claimInitiated(NodeID)
    /// The board has made its request for a certificate.
    case certificateRequested
    /// The board has its certificate.
    case claimed(NodeID)
    /// The board's application has answered the data that was sent to that endpoint.
    case customData(String, answer: [UInt8])
    /// The state of the board's attempt to join.
    case wifi(WiFiProgress)
    /// The board is on its network. The address is empty if the board did not report it.
    case connected(JoinedNetwork)
    /// The board accepts no Wi-Fi settings, because it is on a network already. The cloud has it online in the account, so the run ends with
    /// success.
    case alreadyOnline(NodeID)
    /// An earlier run's mapping was finished.
    case resumed(NodeID)
    /// An earlier run's mapping could not be finished and is given up, for this reason.
    case abandoned(NodeID, String)
    /// The board is in the account, but still accepts challenges: it could not be switched off, for this reason.
    case associationLeftOpen(String)
    /// The board does not answer yet. It is looked for until the deadline.
    case waitingForBoard
    /// The cloud has not confirmed the mapping yet, and is asked again.
    case waitingForCloud
    /// The board is in the account and does not answer. The cloud is asked whether it sees the board on its network.
    case waitingForNode
}

/// A board that is set up, as far as the request asked.
public struct OnboardedNode: Sendable {
    /// Whether the node is in the user's account.
    public enum Mapping: String, Sendable {
        /// The cloud has confirmed that the node is the user's.
        case confirmed
        /// The request did not ask for it.
        case skipped
    }

    /// The node's id. Nil if the board was not put into an account and did not report its id.
    public var nodeID: NodeID?
    /// The network that the board reports to be on. Nil if its Wi-Fi was not changed, or if only the cloud saw it there.
    public var network: JoinedNetwork?
    /// The result of the request to put it into the account.
    public var mapping: Mapping
    /// Whether this run gave the board its certificate.
    public var claimed: Bool
    /// Whether this run only finished at the cloud what an earlier run had begun.
    public var resumed: Bool
    /// What the board reported about itself. Nil if it was not asked, as after a run that only finished an earlier one.
    public var identity: BoardIdentity?
    /// The answers of the board's application to the data that it was sent, by endpoint.
    public var customData: [CustomData]
    /// The time the run took.
    public var elapsed: Duration
    /// The name that the node was given, and has reported; nil if none was requested, or if it could not be given.
    public var name: String?
    /// Another node that has the same name.
    public var nameClash: NodeNameClash?
    /// Why the node could not be given the requested name.
    public var nameProblem: RainKitError?

    public init(
        nodeID: NodeID?, network: JoinedNetwork?, mapping: Mapping, claimed: Bool = false, resumed: Bool = false,
        identity: BoardIdentity? = nil, customData: [CustomData] = [], elapsed: Duration,
        name: String? = nil
    ) {
        self.nodeID = nodeID
        self.network = network
        self.mapping = mapping
        self.claimed = claimed
        self.resumed = resumed
        self.identity = identity
        self.customData = customData
        self.elapsed = elapsed
        self.name = name
    }
}

extension OnboardingEvent: CustomStringConvertible {
    /// For logs and examples: the step and its state, such as `connect: finished`. Never holds a secret.
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
        case .heard(let networks): "\(networks.count.counting("network")) in reach"
        case .cannotListNetworks: "the board cannot list networks"
        case .claimInitiated(let node): "the claim service offers the node id \(node)"
        case .certificateRequested: "a certificate is requested"
        case .claimed(let node): "claimed as \(node)"
        case .customData(let endpoint, let answer): "\(endpoint) answered with \(answer.count.counting("byte"))"
        case .wifi: "joining"
        case .connected(let network): "on \(network.ssid) as \(network.address)"
        case .alreadyOnline(let node): "\(node) is online in the account already"
        case .resumed(let node): "the mapping of \(node) is finished"
        case .abandoned(let node, let why): "the mapping of \(node) was abandoned (\(why))"
        case .associationLeftOpen(let why):
            "other users on this network may still be able to put the board into their accounts (\(why))"
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
