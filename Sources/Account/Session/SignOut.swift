// SPDX-License-Identifier: Apache-2.0
import RainCore

/// One sign-out, made while holding the store's lock. It signs out at the provider and removes the session.
struct SignOut: Sendable {
    let keeper: TokenKeeper
    let turn: RenewalTurn
    let unsaved: TokenKeeper.Unsaved?
    let pause: TokenKeeper.Pause?
    let tell: @Sendable (Tokens) async throws(AccountError) -> SignOutReport

    /// Returns the outcome at the provider. It is complete too if the provider had already ended the session.
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
            // The provider did not accept the access token, but the refresh token still has to be revoked.
            guard error.status == 401 else { throw error }
            return try await tell(try await renewed(session, access).tokens)
        }
    }

    /// Returns the session with an access token that the provider should accept.
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
    /// The outcome of a sign-out. The local session has ended in any case.
    public enum SignOutOutcome: Sendable {
        /// The provider has ended the session too.
        case complete
        /// The provider cannot end all of it. The report lists the tokens that are still valid there, and until when.
        case partly(SignOutReport)
        /// The provider could not be reached. For it, the session lasts until its tokens expire.
        case onlyHere(AccountError)
    }

    /// Ends the session here and at the provider. With `everywhere` it ends all of the user's sessions on all devices.
    ///
    /// Meanwhile no other process can renew the session and so restore it.
    public func signOut(everywhere: Bool = false) async throws(AccountError) -> SignOutOutcome {
        let provider = provider
        return try await keeper.end { tokens async throws(AccountError) in
            try await provider.signOut(tokens, everywhere: everywhere)
        }
    }

    /// Removes the user's stored session, which the provider has ended. Sends nothing. A session of another user remains.
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

/// The tokens that are still valid at the provider after a sign-out.
public struct SignOutReport: Sendable, Equatable {
    /// A token that the provider may still accept.
    public struct Token: Sendable, Equatable {
        /// `access_token` or `refresh_token`.
        public enum Kind: String, Sendable {
            /// The token that requests carry.
            case access = "access_token"
            /// The token that gets new access tokens.
            case refresh = "refresh_token"
        }

        /// Which of the session's tokens it is.
        public var kind: Kind
        /// When it expires, by this machine's clock; nil if unknown.
        public var expires: UnixTime?
        /// Whether the token is certainly valid. False if the provider was asked to end the session, but does not say whether the token
        /// ended too.
        public var isCertain: Bool

        public init(kind: Kind, expires: UnixTime?, isCertain: Bool) {
            self.kind = kind
            self.expires = expires
            self.isCertain = isCertain
        }
    }

    /// The tokens that the provider did not revoke; empty if all have ended.
    public var stillValid: [Token]
    /// The provider's page for signing out in the browser, if it has one.
    public var page: String?

    /// No token is left.
    public static let complete = SignOutReport(stillValid: [])

    public init(stillValid: [Token], page: String? = nil) {
        self.stillValid = stillValid
        self.page = page
    }

    /// Creates the report for a provider that cannot revoke these tokens.
    public init(leaving tokens: Tokens, isCertain: Bool = true) {
        stillValid = [Token(kind: .access, expires: tokens.expires, isCertain: isCertain)]
        if tokens.refresh != nil {
            stillValid.insert(Token(kind: .refresh, expires: tokens.refreshExpires, isCertain: isCertain), at: 0)
        }
    }
}
