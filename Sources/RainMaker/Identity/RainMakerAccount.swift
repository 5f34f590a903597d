// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainCore

/// A user's account at a RainMaker deployment: everything that can be done with it beside signing in and out, which is
/// ``AccountSession``'s.
///
/// What needs no sign-in (signing up, resetting a password) does not touch the session. Every call throws ``AccountError`` and
/// takes at most some ten seconds. What breaks a rule that is known here (``AccountError/Code-swift.struct/weakPassword`` and its
/// neighbours) is refused before anything is sent; a refusal by the cloud has its number and words as well.
///
/// ```swift
/// let account = RainMakerAccount(.global, session: session, http: client)
/// try await account.signUp("dev@example.com", password: password)
/// try await account.confirmSignUp("dev@example.com", code: code)
/// let user = try await session.signIn(.password(user: "dev@example.com", password: password))
/// ```
public struct RainMakerAccount: Sendable {
    let service: RainMakerService
    let identity: RainMakerIdentity
    /// Whose account it is. Signing in and out is done with it.
    public let session: AccountSession

    /// - Parameter session: one at the same deployment; another's tokens are refused before anything is sent.
    public init(_ deployment: Deployment, session: AccountSession, http: any HTTPClient) {
        service = RainMakerService(deployment, http: http)
        identity = RainMakerIdentity(deployment, http: http)
        self.session = session
    }

    /// In the signed-in user's name.
    @discardableResult
    func call(_ call: RainMakerCall) async throws(AccountError) -> JSONValue {
        try await service.call(call, in: session)
    }

    /// Has a one-time code sent to the user, to sign in by ``SignInCredentials/oneTimeCode(_:code:)`` without a password.
    public func requestOneTimeCode(for user: String) async throws(AccountError) -> SignInChallenge {
        try await identity.requestOneTimeCode(user: user)
    }

    static func query(locale: String?) throws(AccountError) -> [(name: String, value: String)] {
        try RainMakerInput.check(locale: locale)
        return locale.map { [(name: "locale", value: $0)] } ?? []
    }

    static func list(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}
