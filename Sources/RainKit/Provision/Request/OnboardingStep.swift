// SPDX-License-Identifier: Apache-2.0

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
