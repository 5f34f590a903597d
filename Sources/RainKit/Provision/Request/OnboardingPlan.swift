// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning

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
