// SPDX-License-Identifier: Apache-2.0
import RainAccount
import Glibc
import RainOAuth

/// Hears the answer on this machine's own loopback address (RFC 8252, section 7.3), for servers that allow any port there.
///
/// 127.0.0.1 and ::1 are listened on with one port. Hits on other paths, with another `Host` or with another state are answered
/// and otherwise ignored; the first answer that fits ends the wait.
public struct LoopbackUserAgent: AuthorizationUserAgent {
    private let port: UInt16
    private let path: String
    private let hand: SignInPageOpener

    /// - Parameters:
    ///   - port: 0 for any free one.
    ///   - path: as it is registered; it begins with `/`.
    ///   - pasted: may bring the answer too, where the browser cannot reach this machine.
    ///   - show: takes the person to the page.
    public init(
        port: UInt16 = 0, path: String = "/callback", pasted: (any PastedAddresses)? = nil,
        within limit: Duration = .seconds(300), by clock: any Clock<Duration> = ContinuousClock(),
        show: @escaping ShowSignInPage
    ) {
        self.port = port
        self.path = path
        hand = SignInPageOpener(pasted: pasted, limit: limit, clock: clock, show: show)
    }

    public func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse {
        let sockets = try LoopbackSockets(port: port)
        defer { sockets.close() }
        let host = sockets.hasIPv4 ? "127.0.0.1" : "[::1]"
        let target = RedirectTarget(redirectURI: try redirectURI("http://\(host):\(sockets.port)\(path)"))
        return try await hand.authorize(attempt, at: target, hearing: LoopbackListener(sockets: sockets, path: path))
    }
}

/// Hears the answer through a page that the provider has registered, because it allows no loopback address: the page reads
/// `port:N` in the state and sends the browser on to `http://localhost:N/`.
///
/// A state like that can be guessed, so somebody else's code could be slipped in. Such a code is of no use: it does not fit the
/// code verifier, and its id token not the nonce.
public struct RelayUserAgent: AuthorizationUserAgent {
    private let relay: String
    private let port: UInt16
    private let sendsExtendedState: Bool
    private let hand: SignInPageOpener

    /// - Parameters:
    ///   - relay: the page's address, which is the redirect URI.
    ///   - sendsExtendedState: whether the page stands a random part behind the port (`port:N:RANDOM`), and hands it on.
    public init(
        relay: String, port: UInt16 = 0, sendsExtendedState: Bool = false, pasted: (any PastedAddresses)? = nil,
        within limit: Duration = .seconds(300), by clock: any Clock<Duration> = ContinuousClock(),
        show: @escaping ShowSignInPage
    ) {
        self.relay = relay
        self.port = port
        self.sendsExtendedState = sendsExtendedState
        hand = SignInPageOpener(pasted: pasted, limit: limit, clock: clock, show: show)
    }

    public func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse {
        let sockets = try LoopbackSockets(port: port)
        defer { sockets.close() }
        var aliases: [RedirectURI] = []
        for host in ["localhost", "127.0.0.1", "[::1]"] {
            aliases.append(try redirectURI("http://\(host):\(sockets.port)/"))
        }
        let target = RedirectTarget(
            redirectURI: try redirectURI(relay), aliases: aliases,
            stateForm: .relay(port: sockets.port, isExtended: sendsExtendedState))
        return try await hand.authorize(attempt, at: target, hearing: LoopbackListener(sockets: sockets, path: "/"))
    }
}
