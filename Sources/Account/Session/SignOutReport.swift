// SPDX-License-Identifier: Apache-2.0

/// What a sign-out left of a session at its provider.
public struct SignOutReport: Sendable, Equatable {
    /// A token that the provider may still take.
    public struct Token: Sendable, Equatable {
        /// `access_token` or `refresh_token`.
        public enum Kind: String, Sendable {
            /// What requests carry.
            case access = "access_token"
            /// What brings new access tokens.
            case refresh = "refresh_token"
        }

        /// Which of the session's tokens it is.
        public var kind: Kind
        /// When it expires, by this machine's clock; nil if nobody said.
        public var expires: UnixTime?
        /// Whether the token is known to be good. False where the provider was asked to end the session, and does not say whether the
        /// token ended with it.
        public var isCertain: Bool

        public init(kind: Kind, expires: UnixTime?, isCertain: Bool) {
            self.kind = kind
            self.expires = expires
            self.isCertain = isCertain
        }
    }

    /// The tokens that the provider was not made to forget; empty where all has ended.
    public var stillValid: [Token]
    /// The provider's page that signs out in the browser, where it has one.
    public var page: String?

    /// The provider keeps nothing.
    public static let complete = SignOutReport(stillValid: [])

    public init(stillValid: [Token], page: String? = nil) {
        self.stillValid = stillValid
        self.page = page
    }

    /// For a provider that has no way to end these tokens.
    public init(leaving tokens: Tokens, isCertain: Bool = true) {
        stillValid = [Token(kind: .access, expires: tokens.expires, isCertain: isCertain)]
        if tokens.refresh != nil {
            stillValid.insert(Token(kind: .refresh, expires: tokens.refreshExpires, isCertain: isCertain), at: 0)
        }
    }
}
