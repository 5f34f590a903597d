// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// Something that happened inside the board, for its log. No event carries a secret.
public enum DeviceEvent: Sendable, Equatable {
    case sessionOpened
    /// A client proved itself; messages are encrypted from here on.
    case sessionEstablished
    /// A client offered a wrong proof of possession, or a key that no honest client sends; the count never falls.
    case wrongProof(count: UInt32)
    case scanStarted
    case scanFinished(count: UInt32)
    case credentialsReceived(ssid: [UInt8])
    /// One attempt failed and another follows; `remaining` is 0 where there is no limit.
    case attemptFailed(DisconnectReason, remaining: UInt32)
    case joinFailed(DisconnectReason, WiFiConnectFailure)
    /// The station was disconnected while the provisioning service did not listen to the driver.
    case disconnected(DisconnectReason)
    case resetAfterFailure
    /// The station has an address: the board is on the network.
    case joined(ssid: [UInt8], channel: UInt32)
    case userMappingReceived
    /// What came to the application's own endpoint.
    case customDataReceived([UInt8])
    /// New values for the node, as JSON, from a client in the provisioning session.
    case parametersReceived([UInt8])
    case challengeSigned
    case claimStarted
    /// The last fragment of the request for a certificate was handed out.
    case certificateRequested
    /// The certificate is there, and this is the node's id from now on.
    case claimed(nodeID: [UInt8])
    case claimAborted
    case claimRefused(ClaimStatus)
    /// A command for a claim, after a claim has ended since the board started.
    case claimOver
    /// The board lost what it had in memory; its transports go down and come back.
    case rebooted
    /// The service of a board that is on its network listens.
    case onNetworkStarted
    /// A client of that service offered a wrong proof of possession, which nobody counts.
    case onNetworkProofRefused
    /// A client has disabled challenge and response: that service takes none any more, and stops soon.
    case onNetworkDisabled
    case onNetworkStopped
    /// Local control listens.
    case localControlStarted
    case serviceStopping
    case serviceStopped
}
