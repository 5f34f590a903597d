// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Receives the answer on this machine's loopback address (RFC 8252, section 7.3), for servers that allow any port there.
///
/// It listens on 127.0.0.1 and ::1 with one port. Requests to other paths, with another `Host` or with another state get an error page and
/// are otherwise ignored; the first answer that belongs to the attempt ends the wait.
public struct LoopbackUserAgent: AuthorizationUserAgent {
    private let port: UInt16
    private let path: String
    private let opener: SignInPageOpener

    /// - Parameters:
    ///   - port: 0 for any free one.
    ///   - path: as it is registered; it begins with `/`.
    ///   - pasted: may bring the answer too, where the browser cannot reach this machine.
    ///   - report: is told of answers that were not accepted.
    ///   - show: takes the person to the page.
    public init(
        port: UInt16 = 0, path: String = "/callback", pasted: (any PastedAddresses)? = nil,
        within limit: Duration = .seconds(300), by clock: any Clock<Duration> = ContinuousClock(),
        report: ReportForeignAnswer? = nil, show: @escaping ShowSignInPage
    ) {
        self.port = port
        self.path = path
        opener = SignInPageOpener(pasted: pasted, limit: limit, clock: clock, report: report, show: show)
    }

    public func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse {
        let sockets = try LoopbackSockets(port: port)
        defer { sockets.close() }
        let host = sockets.hasIPv4 ? "127.0.0.1" : "[::1]"
        let target = RedirectTarget(redirectURI: try redirectURI("http://\(host):\(sockets.port)\(path)"))
        return try await opener.authorize(attempt, at: target, hearing: LoopbackListener(sockets: sockets, path: path))
    }
}

/// Receives the answer through a relay page, for providers that allow no loopback address: the page is the registered redirect URI, reads
/// `port:N` in the state and redirects the browser to `http://localhost:N/`.
///
/// Such a state can be guessed, so an attacker could send a code of their own. It is useless to them: the code does not match the code
/// verifier, and its id token does not have the nonce.
public struct RelayUserAgent: AuthorizationUserAgent {
    private let relay: String
    private let port: UInt16
    private let sendsExtendedState: Bool
    private let opener: SignInPageOpener

    /// - Parameters:
    ///   - relay: the page's address, which is the redirect URI.
    ///   - sendsExtendedState: whether the page accepts a random part behind the port (`port:N:RANDOM`) and passes it on.
    public init(
        relay: String, port: UInt16 = 0, sendsExtendedState: Bool = false, pasted: (any PastedAddresses)? = nil,
        within limit: Duration = .seconds(300), by clock: any Clock<Duration> = ContinuousClock(),
        report: ReportForeignAnswer? = nil, show: @escaping ShowSignInPage
    ) {
        self.relay = relay
        self.port = port
        self.sendsExtendedState = sendsExtendedState
        opener = SignInPageOpener(pasted: pasted, limit: limit, clock: clock, report: report, show: show)
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
        return try await opener.authorize(attempt, at: target, hearing: LoopbackListener(sockets: sockets, path: "/"))
    }
}
