// SPDX-License-Identifier: Apache-2.0

/// Signs messages with a private key that it keeps to itself.
public protocol MessageSigner: Sendable {
    /// The signature over `message`, which is hashed as the algorithm prescribes.
    func sign(_ message: [UInt8]) throws(SignatureFailure) -> [UInt8]
}

/// Tells whether a message was signed by the owner of a key.
public protocol SignatureVerifier: Sendable {
    /// Whether the signature is the key owner's, over this very message.
    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool
}

/// The key could not sign: it is of another kind than the algorithm, or the crypto library failed.
public struct SignatureFailure: Error, Equatable, Sendable {
    public init() {}
}
