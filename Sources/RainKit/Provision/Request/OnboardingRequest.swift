// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainMaker
import RainCore

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
