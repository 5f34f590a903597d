// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker

/// A sign-in in the person's own browser: which page, how the browser comes back, and who shows the page's address.
public struct BrowserMethod: Sendable {
    /// Another identity provider behind the page, such as `github`.
    public var identityProvider: String?
    /// For providers: `authorizationCode` or `implicit`; as people usually sign in there if nil
    /// (`ProviderDefinition.usualBrowserGrant`).
    public var grant: GrantName?
    /// Where the client is registered to be sent, in the place of what is known of the page.
    public var redirectURI: String?
    /// How the browser comes back; as the page has it if nil.
    public var way: RedirectRoute.Way?
    /// The port to listen on; any free one if nil.
    public var port: UInt16?
    /// Whether nothing listens, and the address comes through ``pasted`` alone.
    public var onlyPasted = false
    /// Where a person may paste the address that the browser ended on.
    public var pasted: (any PastedAddresses)?
    /// How long the page may take.
    public var limit = Duration.seconds(300)
    /// Makes the desktop start this program's handler for a scheme of its own, in a folder for its socket. Nil where there is none.
    public var schemeHandler: SchemeHandling?
    /// Is told at once of answers that belong to another sign-in or another server. They are not used, and do not end the wait.
    public var report: ReportForeignAnswer?
    /// Takes the person to the page.
    public var show: ShowSignInPage

    /// How a scheme of the program's own is handled: see `SchemeHandler`.
    public struct SchemeHandling: Sendable {
        /// The folder for the socket, below `XDG_RUNTIME_DIR`.
        public var folder: @Sendable () throws(AccountError) -> String
        /// Makes this program the desktop's handler of the scheme (without `:`), before the page is shown. Its error ends the sign-in.
        public var register: @Sendable (_ scheme: String) async throws(AccountError) -> Void

        public init(
            folder: @escaping @Sendable () throws(AccountError) -> String,
            register: @escaping @Sendable (_ scheme: String) async throws(AccountError) -> Void
        ) {
            self.folder = folder
            self.register = register
        }
    }

    public init(identityProvider: String? = nil, show: @escaping ShowSignInPage) {
        self.identityProvider = identityProvider
        self.show = show
    }

    func credentials(_ context: SignInContext) async throws(AccountError) -> SignInCredentials {
        let account = context.account
        if let provider = account.provider {
            let more = identityProvider.map { [(name: "identity_provider", value: $0)] } ?? []
            let page = try await provider.signInPage(grant ?? provider.definition.usualBrowserGrant, more)
            return try await answer(of: page, RedirectRoute(provider, redirectURI: redirectURI), context.tools)
        }
        guard let deployment = account.deployment else {
            throw AccountError(.unsupported, message: "\(account.name) has no sign-in page")
        }
        let page = try deployment.signInPage(identityProvider: identityProvider)
        return try await answer(of: page, RedirectRoute(deployment), context.tools)
    }

    private func answer(
        of page: AuthorizationServer, _ route: RedirectRoute, _ tools: RainKitTools
    ) async throws(AccountError) -> SignInCredentials {
        var random = tools.random
        let agent = try UserAgentChoice(method: self, route: route, tools: tools).agent()
        return try await page.signIn(through: agent, random: &random, hashes: tools.crypto)
    }
}
