// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCore

/// What a sign-in page hands back unchanged, so that an answer can be told from one that somebody else made up
/// (RFC 6749, section 10.12).
public struct State: Sendable, Equatable {
    /// The characters of the state.
    public let secret: Secret

    /// Longer ones are refused by servers, or cut.
    public static let maximumLength = 1024

    /// 256 random bits, 43 characters.
    public init(random: inout some RandomSource) {
        secret = Secret(Base64.urlEncoded(random.bytes(32)))
    }

    /// Visible ASCII of a bounded length; nil for anything else.
    public init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count), text.utf8.allSatisfy(isVisible) else { return nil }
        secret = Secret(text)
    }
}
