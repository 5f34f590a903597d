// SPDX-License-Identifier: Apache-2.0
import RainKit

extension Login {
    func signInThroughBrowser(
        _ context: Context, _ client: RainKitClient, _ account: AccountAccess, _ events: SignInEvents
    ) async throws -> LoginResult {
        let browser = try BrowserSignIn(web, context, within: timeout.duration, events: events)
        return .signedIn(SignedInResult(try await client.signIn(with: try browser.method(), to: account), account))
    }
}
