// SPDX-License-Identifier: Apache-2.0

/// The short text printed on a board or shown in its QR code, which proves that the person who types it holds the board.
///
/// Security 1 mixes it into the session key; Security 2 uses it as the password of SRP-6a.
public struct ProofOfPossession: Sendable, Equatable {
    /// The bytes that go into the handshake.
    public let secret: Secret
    public init(_ secret: Secret) { self.secret = secret }
    /// A proof of possession given as text; the handshake uses its UTF-8 bytes.
    public init(_ text: String) { self.secret = Secret(text) }
    /// Whether it has no bytes at all.
    public var isEmpty: Bool { secret.isEmpty }
}

extension ProofOfPossession: ExpressibleByStringLiteral {
    /// For examples and tests; a real one is read from a file or a label.
    public init(stringLiteral value: String) { self.init(value) }
}
