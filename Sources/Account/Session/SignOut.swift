// SPDX-License-Identifier: Apache-2.0
import RainCore

/// One sign-out, made while holding the store's lock: the provider is told, and the session removed.
struct SignOut: Sendable {
    let keeper: TokenKeeper
    let turn: RenewalTurn
    let unsaved: TokenKeeper.Unsaved?
    let pause: TokenKeeper.Pause?
    let tell: @Sendable (Tokens) async throws(AccountError) -> SignOutReport

    /// How far it came at the provider; complete also where that had ended the session already.
    func run(_ access: any CredentialAccess) async throws(AccountError) -> AccountSession.SignOutOutcome {
        var outcome = AccountSession.SignOutOutcome.complete
        do throws(AccountError) {
            let report = try await keeper.withinLockTime { () async throws(AccountError) in
                try await tellProvider(access)
            }
            if !report.stillValid.isEmpty { outcome = .partly(report) }
        } catch {
            if error.code == .cancelled { throw error }
            let hasEnded = error.code == .expired && error.status != 401 || error.code == .notSignedIn
            if !hasEnded { outcome = .onlyHere(error) }
        }
        try await keeper.events.changing { () async throws(AccountError) in
            guard try await access.load() != nil else { return .removed(.signedOut(.elsewhere)) }
            try await access.remove()
            return .removed(.signedOut(.here))
        }
        return outcome
    }

    private func tellProvider(_ access: any CredentialAccess) async throws(AccountError) -> SignOutReport {
        let session = try await living(access)
        do throws(AccountError) {
            return try await tell(session.tokens)
        } catch {
            // The access token was not accepted. The refresh token still has to be revoked.
            guard error.status == 401 else { throw error }
            return try await tell(try await renewed(session, access).tokens)
        }
    }

    /// The session with an access token that the provider takes, as far as that is known here.
    private func living(_ access: any CredentialAccess) async throws(AccountError) -> SavedSession {
        let stored = try await renewal(replacing: nil).load(access)
        let session = unsaved?.newer(than: stored) ?? stored
        guard session.tokens.shouldBeRenewed(at: keeper.now), session.tokens.canBeRenewed(at: keeper.now) else {
            return session
        }
        do throws(AccountError) {
            return try await renewed(session, access)
        } catch {
            guard error.leavesOldTokens, !session.tokens.haveExpired(at: keeper.now) else { throw error }
            return session
        }
    }

    private func renewed(
        _ session: SavedSession, _ access: any CredentialAccess
    ) async throws(AccountError) -> SavedSession {
        try await renewal(replacing: session).run(access)
    }

    private func renewal(replacing session: SavedSession?) -> Renewal {
        Renewal(
            keeper: keeper, turn: turn, rejected: session?.tokens.access, unsaved: unsaved, pause: pause)
    }
}

extension AccountSession {
    /// How far a sign-out came. Here the session is over in any case.
    public enum SignOutOutcome: Sendable {
        /// The provider has ended the session too.
        case complete
        /// The provider has no way to end all of it. The report says which tokens are still good there, and until when.
        case partly(SignOutReport)
        /// The provider could not be told: to it the session lives until its tokens expire.
        case onlyHere(AccountError)
    }

    /// Ends the session here and at the provider; `everywhere` ends all of the user's sessions on all devices.
    ///
    /// No other process can renew the session meanwhile and so bring it back.
    public func signOut(everywhere: Bool = false) async throws(AccountError) -> SignOutOutcome {
        let provider = provider
        return try await keeper.end { tokens async throws(AccountError) in
            try await provider.signOut(tokens, everywhere: everywhere)
        }
    }

    /// Removes the user's stored session, which the provider has ended, without telling it. One of another user stays.
    package func forget(_ user: UserID) async throws(AccountError) {
        let session: SavedSession
        do throws(AccountError) {
            session = try await keeper.stored()
        } catch {
            if error.code == .notSignedIn { return }
            throw error
        }
        guard session.userID == user else { return }
        try await keeper.remove(session)
    }
}

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
