// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What the log of a board says that a client acts on.
public enum DeviceLogEvent: Sendable {
    /// The ROM's first line: the board was reset, and what was known of its last run is over.
    case restarted
    /// The application has started; `app_init` names it.
    case applicationStarted
    /// The provisioning service runs, under that name.
    case provisioningStarted(name: String)
    /// What the board's QR code says: its name, its proof of possession and how it is reached.
    case code(QRPayload)
    /// Name and proof that an application prints instead of a code: those from before 2024, and Arduino sketches.
    case announced(name: String, proof: ProofOfPossession?)
    /// The application starts provisioning and does not print the name of its service, as Arduino sketches without `printQR` do.
    case unnamedProvisioning
    /// The board has Wi-Fi settings of earlier and starts no provisioning.
    case alreadyProvisioned
    /// A client has proven that it may provision the board.
    case sessionEstablished
    /// The station has this address.
    case joined(address: String)
    /// Something is wrong with the board.
    case trouble(DeviceTrouble)
}
