// SPDX-License-Identifier: Apache-2.0
import Logging
import ProtocommWire
import RainCore

extension ProtocommBoard {
    /// How long a board is watched that cannot say whether it is joining. Firmware waits a second before it moves its radio; a wrong
    /// password or an absent network takes it two more.
    private var firstAttempt: Duration { .seconds(4) }

    /// Throws `joining` or `rejected` where the board must not be asked to scan.
    ///
    /// Firmware loses the end of a scan that begins while it joins a network, is on one or has failed with one, and never ends another
    /// until it restarts (seen with network_provisioning 1.2.4). Its status does not tell: before a first attempt has ended it is that of
    /// a board that was told nothing. A reset does: it is refused while the board joins, takes one that has failed back to its start, and
    /// does nothing to one that is there.
    ///
    /// Older firmware refuses it at the start, too, or cannot reset. ESP-IDF's own component, which has that, is told by its version, and
    /// is watched for a moment; network_provisioning before 1.2.1 is not, and counts as one that joins.
    func makeReadyToScan() async throws(ProvisioningError) {
        let status = try await resetWhereItCan()
        if status == .success { return }
        let end = time.elapsed() + firstAttempt
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
            default: if status != nil, identity?.version.hasPrefix("netprov") == true { throw .joining }
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
                + "until it restarts. Try again in a moment. (Firmware with network_provisioning before 1.2.1 cannot be told "
                + "from a board that is joining.)", remedies: [.networkName])
    }
}
