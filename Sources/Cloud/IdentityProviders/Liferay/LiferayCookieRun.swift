// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP

/// Takes a ``LiferayCookieSignIn`` from its first request to its end.
struct LiferayCookieRun: Sendable {
    let tools: ProviderTools

    /// How often somebody may be asked in one sign-in, so that one who never gives up does not lock the account out.
    static let challengeLimit = 3

    func run(_ signIn: LiferayCookieSignIn) async throws(AccountError) -> LiferayCookies {
        var signIn = signIn
        var request = signIn.start()
        while true {
            let response: HTTPResponse
            do throws(HTTPError) { response = try await tools.http.send(request) } catch { throw AccountError(error) }
            switch try signIn.next(response) {
            case .done(let cookies): return cookies
            case .send(let next): request = next
            case .challenge(let challenge): request = try await answer(challenge, in: &signIn)
            }
        }
    }

    private func answer(
        _ challenge: AuthenticationChallenge, in signIn: inout LiferayCookieSignIn
    ) async throws(AccountError) -> HTTPRequest {
        var answer = ChallengeAnswer.performDefaultHandling
        if let resolver = tools.challenges, challenge.previousFailureCount < Self.challengeLimit {
            answer = await resolver.resolve(challenge)
        }
        switch answer {
        case .useCredential(let user, let password):
            guard challenge.scheme == "basic" else {
                throw AccountError(
                    .unsupported,
                    message:
                        "\(challenge.host) asks for \(presentable(challenge.scheme)), and only basic is spoken here",
                    status: challenge.isProxy ? 407 : 401)
            }
            return signIn.answer(challenge, user: user, password: password)
        case .performDefaultHandling: throw signIn.refused(challenge.isProxy ? 407 : 401)
        case .cancel:
            throw AccountError(
                .cancelled, message: "the sign-in was given up when \(challenge.host) asked who is there")
        }
    }
}
