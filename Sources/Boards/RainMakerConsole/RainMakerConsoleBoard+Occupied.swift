// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainIO

/// A board that an earlier run has sent to a network, and that takes no other as long as it tries: early RainMaker firmware, whose `wifi-prov`
/// knows the provisioning service alone. Later firmware leaves the other attempt at once.
extension RainMakerConsoleBoard {
    /// Waits until the board may take its network.
    ///
    /// - Returns: where the board is, if the earlier attempt brought it to the network that is asked for.
    func waitForEarlierAttempt(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) -> JoinedNetwork? {
        guard earlier.isWorthWaiting(at: time.elapsed()) else {
            // A board that has been on a network for long says nothing of it, and the cloud may know.
            throw earlier.hasFailed ? refused(.alreadyGiven) : leftToCloud()
        }
        if !earlier.isTold {
            logger.debug("the board is at what it was given before", metadata: ["peer": "\(peer)"])
            await report(.occupied)
        }
        earlier.isTold = true
        // Its log may be off, so it is asked again, too. The application resets it a moment after the failure is told.
        let pause = earlier.nextPause()
        let result = await withDeadline(pause, sleep: time.sleep) { () async throws(ProvisioningError) in
            try await self.outcomeOfEarlierAttempt()
        }
        guard case .arrived(let place)? = try result?.get() else { return nil }
        try place.verify(isOn: network)
        return place
    }

    /// A board that is on a network by then, most likely, and in the account once it has reported what it was told.
    func leftToCloud() -> ProvisioningError {
        ProvisioningError(
            .mayBeJoining,
            message:
                "The board at \(peer) took no Wi-Fi settings: it is at, or on, a network that it was given before. Look for it in your "
                + "account, or type `reset-to-factory` on its console and run this again.")
    }

    private func outcomeOfEarlierAttempt() async throws(ProvisioningError) -> EarlierAttempt.Outcome {
        while true {
            let event = try await nextEvent()
            if let outcome = earlier.take(event, at: time.elapsed()) { return outcome }
        }
    }
}
