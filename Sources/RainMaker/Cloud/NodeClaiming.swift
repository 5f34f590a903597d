// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

/// The claim service's side of giving a board its certificate: what an onboarding needs of it, and nothing else.
///
/// Board and service talk JSON that the client relays as it is. Both calls may be made again: the same board gets the same id.
/// Every call throws ``RainAccount/AccountError``.
public protocol NodeClaiming: Sendable {
    /// Hands in what the board says of itself (`mac_addr`, `platform`).
    func initiateClaim(_ board: [UInt8]) async throws(AccountError) -> ClaimInvitation

    /// Hands in the board's request for a certificate (`csr`).
    /// - Returns: the service's reply, for the board: a JSON object with the certificate.
    func verifyClaim(_ request: [UInt8]) async throws(AccountError) -> [UInt8]
}

/// The service's word that a board may be claimed.
public struct ClaimInvitation: Sendable, Equatable {
    /// The id that the board will have.
    public var node: NodeID
    /// The reply itself, for the board.
    public var reply: [UInt8]

    public init(node: NodeID, reply: [UInt8]) {
        self.node = node
        self.reply = reply
    }
}
