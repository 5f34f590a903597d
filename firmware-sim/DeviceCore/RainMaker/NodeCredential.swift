// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The node's private key, and what is needed to get a certificate for it. The key itself never leaves this value.
///
/// A board that cannot be claimed needs neither of the two functions: the defaults refuse.
public protocol NodeCredential: MessageSigner {
    /// A request (PKCS #10, PEM) for a certificate of this key with `nodeID` as its common name.
    func certificateRequest(for nodeID: [UInt8]) throws(SignatureFailure) -> [UInt8]

    /// Whether this certificate (PEM) belongs to this key and names that node.
    func accepts(certificate: [UInt8], for nodeID: [UInt8]) -> Bool
}

extension NodeCredential {
    public func certificateRequest(for nodeID: [UInt8]) throws(SignatureFailure) -> [UInt8] { throw SignatureFailure() }
    public func accepts(certificate: [UInt8], for nodeID: [UInt8]) -> Bool { false }
}
