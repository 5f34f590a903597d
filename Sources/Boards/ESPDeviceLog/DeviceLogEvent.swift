// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

/// What the log of a board says that a client acts on.
public enum DeviceLogEvent: Sendable {
    /// The ROM's first words: the board was reset, and all that was known of its run is over.
    case restarted
    /// The application has started; `app_init` names it.
    case applicationStarted
    /// The provisioning service runs, under that name.
    case provisioningStarted(name: String)
    /// What the board's QR code says: its name, its proof of possession and how it is reached.
    case code(QRPayload)
    /// What an application from before 2024 says in the place of a code, which names no transport.
    case announced(name: String, proof: ProofOfPossession?)
    /// The board has Wi-Fi settings of earlier and starts no provisioning.
    case alreadyProvisioned
    /// A client has proven that it may provision the board.
    case sessionEstablished
    /// The station has this address.
    case joined(address: String)
    /// Something is wrong with the board.
    case trouble(DeviceTrouble)
}
