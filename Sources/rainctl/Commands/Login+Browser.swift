import RainKit

extension Login {
    func signInThroughBrowser(_ context: Context, _ account: AccountAccess) async throws {
        let browser = try BrowserSignIn(web, context, account.deployment, within: timeout.duration)
        let profile = try await account.session.signIn { () async throws(AccountError) in
            try await browser.credentials()
        }
        report(profile, account, context)
    }
}
