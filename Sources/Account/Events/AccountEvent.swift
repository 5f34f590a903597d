// SPDX-License-Identifier: Apache-2.0

/// What has become of a session. Each event is told once to each subscriber, in the order in which the things happened.
public enum AccountEvent: Sendable {
    /// A stored session was found that this ``AccountSession`` had not written: the first one, or what another process stored.
    case loaded(SessionStatus)
    /// The session is in the store, from where it survives this process. Comes before the event that says why it was saved. A store that
    /// ends with the process saves nothing, and this event is not sent.
    case saved(SessionStatus)
    /// A user signed in with this ``AccountSession``. A session that was stored before is replaced. `attributes` has what the provider
    /// says about the user, in its own words.
    case signedIn(SessionStatus)
    /// Somebody tried to sign in and is not. A session that was there before still is.
    case signInFailed(AccountError)
    /// The tokens are new.
    case refreshed(SessionStatus)
    /// The provider has ended the session, and it was removed from the store: somebody has to sign in again.
    case expired(AccountError)
    /// The session was ended on purpose, here or by another process, and is no longer in the store.
    case signedOut(SignOut)

    /// Who ended the session: this ``AccountSession`` (`here`), or something else that uses the same store (`elsewhere`).
    public enum SignOut: Sendable, Equatable { case here, elsewhere }
}
