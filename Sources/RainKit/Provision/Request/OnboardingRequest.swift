// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainMaker

/// What an onboarding is to do.
public struct OnboardingRequest: Sendable {
    /// What becomes of the board's Wi-Fi.
    public enum Network: Sendable {
        /// Join this one; the board is not asked to scan.
        case given(WiFiNetwork)
        /// Let someone choose from what the board hears. Answering nil cancels.
        case chosen(@Sendable ([AccessPoint]) async -> WiFiNetwork?)
        /// Leave the board's Wi-Fi alone.
        case none
    }

    /// The network to join, or how one is chosen.
    public var network: Network
    /// Whether the board is put into the account.
    public var mapsToUser: Bool
    /// Nothing but the claim of a board that needs one: neither account nor Wi-Fi.
    public var claimsOnly: Bool
    /// Tags and metadata that the cloud keeps with the node.
    public var notes: MappingNotes
    /// What the board's label calls it, where the caller knows: many boards are reached through one port or address, and what an earlier
    /// run left of one of them says nothing of another.
    public var label: String?
    /// What the board's own application is told in the same session, before the board is handed its network.
    public var customData: [CustomData] = []
    /// Whether the board forgets failed Wi-Fi credentials before it is handed others.
    public var resetsFirst: Bool
    /// The time for the whole run.
    public var deadline: Duration
    /// Fetch a challenge before the board is touched, for a board whose access point has no way to the internet. A cloud that gives none
    /// ends the run only where the board turns out to need one.
    public var fetchesChallengeFirst: Bool
    /// Look for a board that is not there yet until the deadline.
    public var waitsForBoard: Bool
    /// Asked after a Wi-Fi verdict for other credentials to try in the same session. Answering nil ends the run.
    public var otherNetwork: (@Sendable (ProvisioningError) async -> WiFiNetwork?)?

    public init(
        network: Network, mapsToUser: Bool = true, claimsOnly: Bool = false, notes: MappingNotes = MappingNotes(),
        label: String? = nil, resetsFirst: Bool = false, deadline: Duration = .seconds(120),
        fetchesChallengeFirst: Bool = false,
        waitsForBoard: Bool = false,
        otherNetwork: (@Sendable (ProvisioningError) async -> WiFiNetwork?)? = nil
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

    /// The claim alone.
    public static func claim(deadline: Duration = .seconds(120), waitsForBoard: Bool = false) -> OnboardingRequest {
        OnboardingRequest(
            network: .none, mapsToUser: false, claimsOnly: true, deadline: deadline, waitsForBoard: waitsForBoard)
    }

    var usesCloud: Bool { mapsToUser || claimsOnly }
}

/// Data for an endpoint that the board's application has added (`network_prov_mgr_endpoint_create`): settings that its Wi-Fi or its cloud needs and
/// that provisioning has no place for.
public struct CustomData: Sendable, Hashable {
    /// Such as `custom-data`.
    public var endpoint: String
    /// As the application reads them.
    public var payload: [UInt8]

    public init(_ payload: [UInt8], for endpoint: String) {
        self.endpoint = endpoint
        self.payload = payload
    }
}

/// Which steps a board takes after it was identified, in order.
///
/// Claiming stands first: without its certificate a board can neither sign nor report anything. Association stands before
/// joining: once a board has its Wi-Fi it may end its provisioning service. The confirmation of a user mapping is *asked for* as
/// soon as the board has accepted its Wi-Fi, while ``OnboardingStep/connect`` still runs.
public struct OnboardingPlan: Sendable, Equatable {
    /// In the order in which they are taken; none of them twice.
    public let steps: [OnboardingStep]

    /// Derives the steps from what the board can do and what was asked for.
    ///
    /// - Parameters:
    ///   - association: how the board is tied to the account; nil if it is not to be.
    ///   - claims: whether the board has to be given its certificate.
    ///   - hasChallenge: whether the cloud's challenge was fetched before.
    ///   - resetsFirst: whether the board is to forget earlier credentials.
    ///   - scans: whether the network is chosen from what the board hears.
    ///   - joins: whether the board is handed a network.
    ///   - sendsData: whether the board's application is sent anything.
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

/// One step of putting a board into an account. Their order for a given board is ``OnboardingPlan``.
public enum OnboardingStep: String, Sendable, CaseIterable {
    /// Learn the signed-in user's id, and with it that the cloud can be reached.
    case account
    /// Finish at the cloud what an earlier run left undone.
    case resume
    /// Fetch a challenge from the cloud.
    case challenge
    /// Find the board and learn what it is.
    case identify
    /// Open the secure session.
    case secure
    /// Have the claim service give the board its certificate, and with it another node id.
    case claim
    /// Make the board forget earlier Wi-Fi credentials.
    case reset
    /// Ask the board which networks it hears, and choose one.
    case scan
    /// Tie the board to the user.
    case associate
    /// Have the cloud verify the board's answer to the challenge.
    case verify
    /// Send the board's own application what it is to have before it leaves for its network.
    case customData = "custom_data"
    /// Hand over the Wi-Fi credentials.
    case join
    /// Wait until the board is on the network.
    case connect
    /// Wait until the cloud has confirmed that the board is the user's.
    case confirm
}
