// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainMaker

/// Options of a run that sets a board up.
public struct OnboardingRequest: Sendable {
    /// What to do with the board's Wi-Fi.
    public enum Network: Sendable {
        /// Join this network; the board is not asked to scan.
        case given(WiFiNetwork)
        /// Let someone choose from the networks that the board hears. For a board that cannot list networks, see
        /// ``OnboardingRequest/networkByName``.
        case chosen(@Sendable ([AccessPoint]) async -> Choice)
        /// Do not change the board's Wi-Fi.
        case none
    }

    /// An answer to the question for one of the networks.
    public enum Choice: Sendable {
        /// Join this network.
        case join(WiFiNetwork)
        /// Scan again, and ask again with the new list.
        case scanAgain
        /// End the run.
        case cancel
    }

    /// The network to join, or how to choose it.
    public var network: Network
    /// Whether the board is put into the account.
    public var mapsToUser: Bool
    /// Whether to claim a board that needs it and do nothing else: no account, no Wi-Fi.
    public var claimsOnly: Bool
    /// Tags and metadata that the cloud keeps with the node.
    public var notes: MappingNotes
    /// The board's name on its label, if the caller knows it. Many boards can be reached through one port or address. The label shows
    /// whether what an earlier run left is about this board.
    public var label: String?
    /// Data for the board's own application, sent in the same session before the board gets its network.
    public var customData: [CustomData] = []
    /// The name that the node gets once it is in the account; nil to leave it its own. A failure to name it does not end the run.
    public var nodeName: String?
    /// Whether the board forgets failed Wi-Fi credentials before it gets others.
    public var resetsFirst: Bool
    /// The time limit for the whole run, without the time of ``timeAsked``.
    public var deadline: Duration
    /// Returns how long the caller has asked its user so far, including a question that is still open; nil if nobody is asked. This time
    /// does not count toward ``deadline``.
    public var timeAsked: (@Sendable () -> Duration)?
    /// Whether to fetch a challenge before the board is contacted, for a board whose access point has no internet. If the cloud gives no
    /// challenge, the run fails only if the board needs one.
    public var fetchesChallengeFirst: Bool
    /// Whether to look until the deadline for a board that does not answer yet.
    public var waitsForBoard: Bool
    /// Called instead of ``Network/chosen(_:)`` for a board that cannot list the networks in its reach (`BoardIdentity.canScan`), such as
    /// one with RainMaker's own console. Returns the network to join; nil cancels the run. Without it, such a board is an error that asks
    /// for the network's name.
    public var networkByName: (@Sendable () async -> WiFiNetwork?)?
    /// A node that the cloud has in the user's account already, because an earlier run got that far. If the board turns out to be this node, it
    /// is not put into the account again.
    public var mappedNode: NodeID?
    /// Whether the run ends successfully if it finishes the mapping that an earlier run of the same board has left. The board is on its network
    /// then, and may still answer. Otherwise a board that answers is set up again.
    var endsWithFinishedMapping = false
    /// The node that the board must be, if the caller knows it. Such a board is claimed already. Another board, and one that needs a claim, gets
    /// no network and is not put into the account (`unexpected_node`).
    public var expectedNode: NodeID?
    /// Called before each step, and after each step that did not fail. The run waits for it, and ends with the error that it throws. With it
    /// a program can record each step before anything else happens to the board.
    public var checkpoint: (@Sendable (OnboardingCheckpoint) async throws(RainKitError) -> Void)?
    /// Called after a board could not join, for other credentials to try in the same session. Answering nil ends the run.
    public var otherNetwork: (@Sendable (BoardError) async -> WiFiNetwork?)?

    public init(
        network: Network, mapsToUser: Bool = true, claimsOnly: Bool = false, notes: MappingNotes = MappingNotes(),
        label: String? = nil, resetsFirst: Bool = false, deadline: Duration = .seconds(120),
        fetchesChallengeFirst: Bool = false,
        waitsForBoard: Bool = false,
        otherNetwork: (@Sendable (BoardError) async -> WiFiNetwork?)? = nil
    ) {
        self.network = network
        self.mapsToUser = mapsToUser
        self.claimsOnly = claimsOnly
        self.notes = notes
        self.label = label
        self.resetsFirst = resetsFirst
        self.deadline = deadline
        self.fetchesChallengeFirst = fetchesChallengeFirst
        self.waitsForBoard = waitsForBoard
        self.otherNetwork = otherNetwork
    }

    /// A request for the claim alone.
    public static func claim(deadline: Duration = .seconds(120), waitsForBoard: Bool = false) -> OnboardingRequest {
        OnboardingRequest(
            network: .none, mapsToUser: false, claimsOnly: true, deadline: deadline, waitsForBoard: waitsForBoard)
    }

    var usesCloud: Bool { mapsToUser || claimsOnly }
}

/// A moment between two steps of a run: ``OnboardingRequest/checkpoint``.
public struct OnboardingCheckpoint: Sendable {
    /// What the step does next, or what it has done.
    public enum State: Sendable {
        /// The step begins.
        case started
        /// The step has succeeded.
        case finished
        /// The step could not be completed, and a later step or run completes it.
        case deferred
    }

    /// The step.
    public var step: OnboardingStep
    /// Whether it begins or has ended.
    public var state: State
    /// The board's node id, once it is known.
    public var nodeID: NodeID?
    /// What the board has reported about itself, after the step `identify`.
    public var identity: BoardIdentity?
}

/// Data for an endpoint that the board's application has added (`network_prov_mgr_endpoint_create`). It carries settings that the
/// application's Wi-Fi or cloud needs and that provisioning does not support.
public struct CustomData: Sendable, Hashable {
    /// The endpoint's name, such as `custom-data`.
    public var endpoint: String
    /// The bytes, in the application's own format.
    public var payload: [UInt8]

    public init(_ payload: [UInt8], for endpoint: String) {
        self.endpoint = endpoint
        self.payload = payload
    }
}

/// The steps for a board after it was identified, in order.
///
/// Claiming is first: without its certificate a board can neither sign nor report anything. Association comes before joining: once a board
/// has its Wi-Fi it may end its provisioning service. The confirmation of a user mapping is *requested* as soon as the board has accepted
/// its Wi-Fi, while ``OnboardingStep/connect`` still runs.
public struct OnboardingPlan: Sendable, Equatable {
    /// The steps in the order in which they run; each occurs at most once.
    public let steps: [OnboardingStep]

    /// Derives the steps from the board's abilities and the request.
    ///
    /// - Parameters:
    ///   - association: how the board is tied to the account; nil if it is not to be.
    ///   - claims: whether the board needs its certificate.
    ///   - hasChallenge: whether the cloud's challenge was fetched before.
    ///   - resetsFirst: whether the board is to forget earlier credentials.
    ///   - scans: whether the network is chosen from those that the board hears.
    ///   - joins: whether the board is given a network.
    ///   - sendsData: whether there is data for the board's application.
    ///   - joinsFirst: whether it can be associated only once it is on that network.
    public init(
        association: AssociationMethod?, claims: Bool = false, hasChallenge: Bool, resetsFirst: Bool, scans: Bool,
        joins: Bool, sendsData: Bool = false, joinsFirst: Bool = false
    ) {
        var steps: [OnboardingStep] = []
        if association == .challengeResponse, !hasChallenge { steps.append(.challenge) }
        steps.append(.secure)
        if claims { steps.append(.claim) }
        if resetsFirst { steps.append(.reset) }
        if scans { steps.append(.scan) }
        if sendsData, joinsFirst { steps.append(.customData) }
        if joins, joinsFirst { steps += [.join, .connect] }
        if association != nil { steps.append(.associate) }
        if association == .challengeResponse { steps.append(.verify) }
        if sendsData, !joinsFirst { steps.append(.customData) }
        if joins, !joinsFirst { steps += [.join, .connect] }
        if association != nil { steps.append(.confirm) }
        self.steps = steps
    }
}

/// One step of putting a board into an account. ``OnboardingPlan`` has their order for a given board.
public enum OnboardingStep: String, Sendable, CaseIterable {
    /// Fetch the signed-in user's id, which also shows that the cloud can be reached.
    case account
    /// Finish at the cloud what an earlier run left unfinished.
    case resume
    /// Fetch a challenge from the cloud.
    case challenge
    /// Find the board and learn its type and abilities.
    case identify
    /// Open the secure session.
    case secure
    /// Get the board its certificate from the claim service. The certificate gives it another node id.
    case claim
    /// Make the board forget earlier Wi-Fi credentials.
    case reset
    /// Ask the board which networks it hears, and choose one.
    case scan
    /// Tie the board to the user.
    case associate
    /// Let the cloud verify the board's answer to the challenge.
    case verify
    /// Send the data for the board's own application, before the board leaves for its network.
    case customData = "custom_data"
    /// Send the Wi-Fi credentials to the board.
    case join
    /// Wait until the board is on the network.
    case connect
    /// Wait until the cloud has confirmed that the board is the user's.
    case confirm
    /// Give the node its name. A failure does not end the run, because the board is in the account.
    case name
}
