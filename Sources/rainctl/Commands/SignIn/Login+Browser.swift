import RainKit

extension Login {
    func signInThroughBrowser(_ context: Context, _ account: AccountAccess) async throws {
        let browser = try BrowserSignIn(web, context, BrowserRoute(account.deployment), within: timeout.duration)
        let idp = web.idp
        let profile = try await account.session.signIn { () async throws(AccountError) in
            try await browser.credentials(at: try account.deployment.signInPage(identityProvider: idp))
        }
        report(profile, account.asSession, context)
    }
}
