// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommCore
import RainCore

extension ProtocommBoard {
    /// How long a board without a reset is watched. Firmware waits a second before it moves its radio; a wrong password or an absent
    /// network takes it two more.
    private var firstAttempt: Duration { .seconds(4) }
    /// The same for a board that refused a reset, as those do that join a network; a weak signal takes the attempt longer.
    private var refusedReset: Duration { .seconds(10) }

    /// Throws `joining` or `rejected` where the board must not be asked to scan.
    ///
    /// Firmware loses the end of a scan that begins while it joins a network, is on one or has failed with one, and never ends another
    /// until it restarts (seen with network_provisioning 1.2.4). Its status does not tell: before a first attempt has ended it is that of
    /// a board that was told nothing. A reset does: it is refused while the board joins, takes one that has failed back to its start, and
    /// does nothing to one that is there.
    ///
    /// Older firmware refuses it at the start, too (network_provisioning before 1.2.1), or cannot reset at all. Such a board is watched
    /// until a first attempt would have come to something, and is scanned where nothing did.
    func makeReadyToScan() async throws(ProvisioningError) {
        let status = try await resetWhereItCan()
        if status == .success { return }
        let end = time.elapsed() + (status == nil ? firstAttempt : refusedReset)
        while true {
            let now = try await wifiStatus()
            switch (now.state, now.detail) {
            case (.connected, _):
                throw ProvisioningError(
                    .rejected,
                    message:
                        "The board is on a network already and cannot look for others. Reset it to factory settings to give it "
                        + "another.")
            case (.connectionFailed, _):
                // It has reset itself, as RainMaker's firmware does, or does so now.
                _ = try await resetWhereItCan()
                return
            case (_, .attemptFailed?): throw .joining
            default: break
            }
            guard time.elapsed() < end else { return }
            try await pause(.milliseconds(500))
        }
    }

    /// The board's answer to a reset; nil where its firmware has none.
    private func resetWhereItCan() async throws(ProvisioningError) -> Status? {
        do {
            return try await resetStatus()
        } catch {
            guard [.rejected, .unsupported].contains(error.code) else { throw error }
            logger.debug("board cannot reset before its scan", metadata: ["peer": "\(peer)"])
            return nil
        }
    }
}

extension ProvisioningError {
    fileprivate static var joining: ProvisioningError {
        ProvisioningError(
            .joining,
            message:
                "The board is joining a network that it was given before, and to look for others meanwhile would keep it from that "
                + "until it restarts. Try again in a moment.", remedies: [.networkName])
    }
}
