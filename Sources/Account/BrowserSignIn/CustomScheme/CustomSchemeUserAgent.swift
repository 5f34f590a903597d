// SPDX-License-Identifier: Apache-2.0

/// Receives the answer through a private-use URI scheme (RFC 8252, section 7.1): the desktop starts a handler with the address, and the
/// handler passes it on through a socket in the user's runtime folder.
///
/// The desktop starts the handler with the address among its arguments, where other users may read it for that moment: the code is
/// of no use to them without the code verifier, and loopback is the better way where the provider allows it.
public struct CustomSchemeUserAgent: AuthorizationUserAgent {
    private let target: String
    private let folder: String
    private let register: @Sendable (_ scheme: String) async throws(AccountError) -> Void
    private let opener: SignInPageOpener

    /// - Parameters:
    ///   - redirectURI: as it is registered, such as `com.example.app:/callback`.
    ///   - folder: for the socket, below `XDG_RUNTIME_DIR`. It is made if it is not there.
    ///   - register: makes the desktop start the handler for the scheme; see ``SchemeHandler``.
    public init(
        redirectURI: String, folder: String, pasted: (any PastedAddresses)? = nil,
        within limit: Duration = .seconds(300), by clock: any Clock<Duration> = ContinuousClock(),
        register: @escaping @Sendable (_ scheme: String) async throws(AccountError) -> Void,
        report: ReportForeignAnswer? = nil, show: @escaping ShowSignInPage
    ) {
        target = redirectURI
        self.folder = folder
        self.register = register
        opener = SignInPageOpener(pasted: pasted, limit: limit, clock: clock, report: report, show: show)
    }

    public func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse {
        let target = RedirectTarget(redirectURI: try redirectURI(target))
        guard let scheme = CallbackFolder.scheme(of: target.redirectURI.text) else {
            throw AccountError(
                .invalidConfiguration,
                message: "\"\(target.redirectURI.text)\" has no scheme that an application may take")
        }
        try CallbackFolder.make(folder)
        let socket = try CallbackSocket(path: CallbackFolder.socket(folder: folder, scheme: scheme))
        defer { socket.close() }
        try await register(scheme)
        return try await opener.authorize(attempt, at: target, hearing: socket)
    }
}
