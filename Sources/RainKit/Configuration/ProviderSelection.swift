// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore

/// An identity system other than RainMaker's own, as a client signs in there.
public struct ProviderSelection: Sendable {
    /// The provider's name, such as `spid`, or that under which its settings were remembered.
    public var name: String
    /// The settings; those of the last sign-in if nil.
    public var settings: ProviderSettings?
    /// Who answers a server on the way that asks who is there.
    public var challenges: (any ChallengeResolver)?

    public init(_ name: String, settings: ProviderSettings? = nil, challenges: (any ChallengeResolver)? = nil) {
        self.name = name
        self.settings = settings
        self.challenges = challenges
    }
}
