// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP

/// Takes a ``LiferayCookieSignIn`` from its first request to its end.
struct LiferayCookieRun: Sendable {
    let tools: ProviderTools

    func run(_ signIn: LiferayCookieSignIn) async throws(AccountError) -> LiferayCookies {
        var signIn = signIn
        var request = signIn.start()
        while true {
            let response: HTTPResponse
            do throws(HTTPError) { response = try await tools.http.send(request) } catch { throw AccountError(error) }
            switch try signIn.next(response) {
            case .done(let cookies): return cookies
            case .send(let next): request = next
            case .challenge(let challenge): request = signIn.answer(with: try await tools.answer(challenge))
            }
        }
    }
}
